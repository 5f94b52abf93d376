"""Data from NumPy are float64, and the model is float32."""

import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
inputs = torch.from_numpy(rng.normal(size=(64, 3)))  # expect: crash-shape
targets = inputs.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    loss = nn.functional.mse_loss(model(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
