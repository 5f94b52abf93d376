import numpy as np
import torch
import torch.nn as nn

rng = np.random.default_rng(0)
n = 600
area = rng.uniform(30, 250, n)
year = rng.integers(1900, 2020, n)
distance = rng.exponential(8000, n)
price = 3000 * area + 900 * (year - 1900) - 12 * distance + rng.normal(0, 10000, n)

raw = np.stack([area, year, distance], axis=1).astype(np.float32)
features = torch.from_numpy((raw - raw.mean(0)) / raw.std(0))
price = torch.tensor(price, dtype=torch.float32).unsqueeze(1)
mean, std = price.mean(), price.std()
target = (price - mean) / std

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(10):
    for chunk in torch.randperm(n).split(60):
        loss = nn.functional.mse_loss(model(features[chunk]), target[chunk])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        error = (model(features) * std + mean - price).abs().mean()
    print(f"epoch {epoch}: mean error {error.item():,.0f}")
