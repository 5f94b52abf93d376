import torch
import torch.nn as nn

torch.manual_seed(3)


class Accumulator(nn.Module):
    def __init__(self, n_in=3, n_hidden=16):
        super().__init__()
        self.wx = nn.Parameter(torch.randn(n_in, n_hidden) * 0.3)
        self.wh = nn.Parameter(torch.randn(n_hidden, n_hidden) * 0.5)  # expect: exploding-gradient
        self.out = nn.Linear(n_hidden, 1)

    def forward(self, seq):
        h = torch.zeros(seq.shape[0], self.wh.shape[0])
        for t in range(seq.shape[1]):
            h = seq[:, t] @ self.wx + h @ self.wh  # expect: exploding-gradient
        return self.out(h)


sequences = torch.randn(64, 25, 3)
totals = sequences.mean(dim=(1, 2)).unsqueeze(1)

model = Accumulator()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(80):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(sequences), totals)
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(step, loss.item())
print("final", loss.item())
