import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


class Standardize(nn.Module):
    def forward(self, x):
        mean = x.mean(dim=0, keepdim=True)
        std = (x - mean).abs().mean(dim=0, keepdim=True)
        return (x - mean) / std  # expect: nan-from-division


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(Standardize(), nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x)


torch.manual_seed(0)
x = 10 + 3 * torch.randn(256, 4)
x[:, 3] = (torch.rand(256) > 0.985).float()
y = (x[:, :1] - 10) / 3 + x[:, 3:]
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = Regressor()
optimizer = optim.AdamW(model.parameters(), lr=0.01)
criterion = nn.SmoothL1Loss()
for epoch in range(10):
    for xb, yb in loader:
        loss = criterion(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.4f}")
