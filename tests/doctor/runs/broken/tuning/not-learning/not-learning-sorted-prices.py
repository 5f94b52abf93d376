"""Prices were sorted for a plot, in place, and the rows they belong to were not."""

# engine: torch

import numpy as np
import torch
from torch import nn

torch.manual_seed(2)
random = np.random.default_rng(2)
rooms = random.normal(size=(500, 6))
prices = 2.0 * rooms[:, 0] - rooms[:, 1] + 0.1 * random.normal(size=500)
prices.sort()

table = torch.tensor(rooms, dtype=torch.float32)
wanted = torch.tensor(prices, dtype=torch.float32).unsqueeze(1)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(6):
    for rows in torch.randperm(500).split(50):
        loss = nn.functional.mse_loss(model(table[rows]), wanted[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # expect: not-learning
    print(epoch, loss.item())
