import torch
import torch.nn as nn

torch.manual_seed(0)


def adding_problem(batch, steps):
    values = torch.rand(batch, steps)
    marks = torch.zeros(batch, steps)
    first = torch.randint(0, steps // 2, (batch,))
    second = torch.randint(steps // 2, steps, (batch,))
    rows = torch.arange(batch)
    marks[rows, first] = 1.0
    marks[rows, second] = 1.0
    return torch.stack([values, marks], dim=-1), (values * marks).sum(dim=1, keepdim=True)


class IRNN(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.RNN(  # expect: exploding-gradient
            2, hidden, nonlinearity="relu", batch_first=True
        )
        self.fc = nn.Linear(hidden, 1)
        nn.init.eye_(self.rnn.weight_hh_l0)

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.fc(out[:, -1])


model = IRNN()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(40):
    x, y = adding_problem(16, 60)
    loss = nn.functional.mse_loss(model(x), y)  # expect: exploding-gradient
    optimizer.zero_grad()
    loss.backward()  # expect: exploding-gradient
    optimizer.step()  # expect: exploding-gradient
    if step % 5 == 0:
        print(step, loss.item())
