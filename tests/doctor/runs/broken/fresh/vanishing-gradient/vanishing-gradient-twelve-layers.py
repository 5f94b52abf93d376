import torch
from torch import nn

torch.manual_seed(0)
depth, width = 12, 24
layers = [nn.Linear(5, width), nn.Sigmoid()]  # expect: vanishing-gradient
for _ in range(depth - 2):
    layers += [nn.Linear(width, width), nn.Sigmoid()]  # expect: vanishing-gradient
net = nn.Sequential(*layers, nn.Linear(width, 1))
x = torch.randn(500, 5)
y = torch.sin(x[:, :1] * 2) + x[:, 1:2] * x[:, 2:3]
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(20):
    perm = torch.randperm(500)
    total = 0.0
    for i in range(0, 500, 50):
        xb, yb = x[perm[i : i + 50]], y[perm[i : i + 50]]
        loss = nn.functional.mse_loss(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() / 10
    if epoch % 4 == 3:
        print(epoch, total)
print("variance", y.var().item())
