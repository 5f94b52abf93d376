"""Constant weights: the part of the answer that a single unit can give is learned, and no more.

At this rate one batch says little: all units are one to the end of the run, and that is enough.
"""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(7)
x = torch.randn(480, 6)
y = x[:, :1] + 0.5 * x[:, 1:2] + 0.8 * x[:, 2:3] * x[:, 3:4] + 0.3 * torch.randn(480, 1)


def flat(layer):
    if isinstance(layer, nn.Linear):
        layer.weight.data.fill_(0.1)  # expect: symmetric-initialization
        layer.bias.data.fill_(0.1)


model = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 1))
model.apply(flat)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
for epoch in range(60):
    for rows in torch.randperm(480).split(32):
        loss = F.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 5 == 0:
        print(epoch, loss.item())
