import torch
from torch import nn


def elu(x):
    return torch.where(x > 0, x, torch.exp(x) - 1)  # expect: nan-from-where


class SetModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.phi = nn.Linear(2, 24)
        self.rho = nn.Linear(24, 24)
        self.out = nn.Linear(24, 1)

    def forward(self, sets):
        pooled = elu(self.phi(sets)).sum(dim=1)
        return self.out(elu(self.rho(pooled)) / sets.shape[1])


torch.manual_seed(1)
model = SetModel()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step, size in enumerate([4, 8, 16, 32, 64, 128, 256] * 20):
    sets = torch.randn(16, size, 2)
    target = (sets**2).sum(dim=2).mean(dim=1, keepdim=True)
    loss = ((model(sets) - target) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step}: set size {size}, loss {loss.item():.4f}")
