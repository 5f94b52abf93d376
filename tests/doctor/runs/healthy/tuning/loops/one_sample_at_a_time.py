import random

import torch
import torch.nn as nn

random.seed(3)
torch.manual_seed(3)
samples = []
for _ in range(100):
    x = torch.randn(4)
    samples.append((x, torch.tensor([2 * x[0].item() - x[2].item() + 1.5 * random.gauss(0, 1)])))

model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.005)
for epoch in range(4):
    random.shuffle(samples)
    losses = []
    for x, y in samples:
        prediction = model(x)
        loss = (prediction - y).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(
        f"epoch {epoch}: mean {sum(losses) / 100:.3f} min {min(losses):.5f} max {max(losses):.2f}"
    )
