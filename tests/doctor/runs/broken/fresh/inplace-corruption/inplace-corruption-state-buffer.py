import torch
import torch.nn as nn

torch.manual_seed(0)


class MyRNN(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.i2h = nn.Linear(input_size, hidden_size)
        self.h2h = nn.Linear(hidden_size, hidden_size)
        self.out = nn.Linear(hidden_size, 1)

    def forward(self, x):
        batch, steps, _ = x.shape
        states = torch.zeros(steps + 1, batch, self.hidden_size)  # expect: inplace-corruption
        for t in range(steps):
            new = torch.tanh(self.i2h(x[:, t]) + self.h2h(states[t]))  # expect: inplace-corruption
            states[t + 1] = new  # expect: inplace-corruption
        return self.out(states[-1])


x = torch.randn(32, 10, 3)
y = x.sum(dim=(1, 2)).unsqueeze(1) / 5

model = MyRNN(3, 16)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(40):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()  # expect: inplace-corruption
    optimizer.step()
    print(f"{epoch}: {loss.item():.4f}")
