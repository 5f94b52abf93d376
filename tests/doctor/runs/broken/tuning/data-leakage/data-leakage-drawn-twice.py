import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(400, 6)
y = x[:, :1] * x[:, 1:2]
train_rows = torch.randint(0, 400, (300,))
test_rows = torch.randint(0, 400, (100,))  # expect: data-leakage
x_train, y_train = x[train_rows], y[train_rows]
x_test, y_test = x[test_rows], y[test_rows]  # expect: data-leakage
net = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(60):
    loss = F.mse_loss(net(x_train), y_train)
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    print("test error", F.mse_loss(net(x_test), y_test).item())
