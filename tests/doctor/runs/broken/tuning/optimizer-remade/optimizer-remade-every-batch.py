"""The optimizer is made where the batch is taken."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.rand(1000, 2) * 4 - 2
y = torch.sin(2 * x[:, :1]) * torch.cos(1.5 * x[:, 1:])
net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
for epoch in range(10):
    for rows in torch.randperm(1000).split(50):
        optimizer = torch.optim.Adam(net.parameters(), lr=0.01)  # expect: optimizer-remade
        loss = nn.functional.mse_loss(net(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
