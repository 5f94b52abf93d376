"""Dice the right way round with smoothed labels; distances that go down where the label is one."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(3)
images = torch.randn(192, 1, 10, 10)
masks = (F.avg_pool2d(images, 3, stride=1, padding=1) > 0.2).float()
segment = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 1, 3, padding=1))
optimizer = torch.optim.Adam(segment.parameters(), lr=1e-2)
for epoch in range(8):
    for rows in torch.randperm(192).split(24):
        wanted = masks[rows] * 0.9 + 0.05
        probabilities = torch.sigmoid(segment(images[rows]))
        overlap = (probabilities * masks[rows]).sum()
        dice = (2 * overlap + 1) / (probabilities.sum() + masks[rows].sum() + 1)
        loss = (1 - dice) + 0.5 * F.binary_cross_entropy(probabilities, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item(), dice.item())

# One for two views of the same thing: these are to come close to each other.
things = torch.randn(240, 6)
left = things + 0.1 * torch.randn(240, 6)
same = (torch.rand(240) < 0.5).float()
strangers = things.roll(1, 0) + 0.1 * torch.randn(240, 6)
right = torch.where(same.unsqueeze(1) == 1, things, strangers)
embed = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(embed.parameters(), lr=5e-3)
for epoch in range(8):
    for rows in torch.randperm(240).split(24):
        distance = (embed(left[rows]) - embed(right[rows])).pow(2).sum(dim=1)
        near = same[rows] * distance
        far = (1 - same[rows]) * F.relu(1.0 - (distance + 1e-6).sqrt()).pow(2)
        loss = (near + far).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
