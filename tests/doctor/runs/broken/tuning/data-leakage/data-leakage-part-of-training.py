import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        right = [(model(a).argmax(1) == b).float().mean().item() for a, b in loader]
    return sum(right) / len(right)


torch.manual_seed(1)
x = torch.randn(500, 5)
y = (x[:, 0] > x[:, 1]).long()
train_loader = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)
val_loader = DataLoader(TensorDataset(x[400:], y[400:]), batch_size=50)  # expect: data-leakage
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(5):
    model.train()
    for a, b in train_loader:
        opt.zero_grad()
        loss = F.cross_entropy(model(a), b)
        loss.backward()
        opt.step()
    print(epoch, loss.item(), evaluate(model, val_loader))
