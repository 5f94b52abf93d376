import numpy as np
import torch
import torch.nn as nn

rng = np.random.default_rng(0)
n = 300
area = rng.uniform(300, 3000, n)
year = rng.integers(1950, 2020, n)
rooms = rng.integers(1, 6, n)
target = 0.6 * (area - 1650) / 780 + 0.3 * (year - 1985) / 20 + 0.1 * (rooms - 3)

table = np.stack([area, year, rooms], axis=1)  # expect: unscaled-input
X = torch.tensor(table, dtype=torch.float32)  # expect: unscaled-input
y = torch.tensor(target, dtype=torch.float32).view(-1, 1)

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)

for epoch in range(200):
    optimizer.zero_grad()
    output = model(X)  # expect: unscaled-input
    loss = criterion(output, y)
    loss.backward()
    optimizer.step()
    if epoch % 20 == 0:
        print(f"epoch {epoch:3d} mse {loss.item():.4f}")
print(f"final mse {loss.item():.4f}")
