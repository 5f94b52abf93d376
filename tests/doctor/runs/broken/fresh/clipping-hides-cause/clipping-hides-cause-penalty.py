import math

import torch
import torch.nn as nn

torch.manual_seed(0)


class PINN(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )

    def forward(self, t):
        return self.net(t)


t = torch.linspace(0, 1, 64).unsqueeze(1)
measured = torch.cos(math.pi * t)
start = torch.zeros(1, 1)

model = PINN()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
weight_data, weight_start = 1e5, 1e5  # expect: clipping-hides-cause

for step in range(200):
    optimizer.zero_grad()
    fit = ((model(t) - measured) ** 2).mean()
    initial = (model(start) - 1.0).pow(2).mean()
    loss = weight_data * fit + weight_start * initial  # expect: clipping-hides-cause
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.1)  # expect: clipping-hides-cause
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.3e} fit {fit.item():.4f}")
