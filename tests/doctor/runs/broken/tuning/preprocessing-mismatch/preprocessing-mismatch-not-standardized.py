import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
x = torch.randn(500, 4) * torch.tensor([20.0, 5.0, 40.0, 9.0]) + 30
y = ((x - 30) / torch.tensor([20.0, 5.0, 40.0, 9.0])).sum(1, keepdim=True)
mean, std = x[:400].mean(0), x[:400].std(0)
train = DataLoader(TensorDataset((x[:400] - mean) / std, y[:400]), batch_size=40, shuffle=True)
test = DataLoader(TensorDataset(x[400:], y[400:]), batch_size=50)  # expect: preprocessing-mismatch
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(6):
    for a, b in train:
        loss = F.mse_loss(model(a), b)
        opt.zero_grad()
        loss.backward()
        opt.step()
with torch.no_grad():
    for a, b in test:
        print(F.mse_loss(model(a), b).item())
