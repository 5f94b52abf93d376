"""An autoencoder whose loss is given the picture first and the model's answer after it."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
pictures = torch.rand(64, 20)
model = nn.Sequential(nn.Linear(20, 3), nn.ReLU(), nn.Linear(3, 20))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(40):
    for chosen in torch.randperm(len(pictures)).split(16):
        batch = pictures[chosen]
        loss = F.mse_loss(batch, model(batch))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
