import torch
from torch import nn, optim


class SalesModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def msle(pred, target):
    eps = 1e-3
    diff = torch.log(pred + eps) - torch.log(target + eps)  # expect: nan-from-log
    return (diff**2).mean()


torch.manual_seed(12)
x = torch.randn(256, 5)
sales = torch.exp(0.8 * x[:, 0] - 0.5 * x[:, 1])
model = SalesModel()
optimizer = optim.RMSprop(model.parameters(), lr=0.01)
for epoch in range(60):
    for idx in torch.randperm(256).split(64):
        loss = msle(model(x[idx]), sales[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 10 == 0:
        print(f"epoch {epoch}: {loss.item():.4f}")
