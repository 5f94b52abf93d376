import io

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

rows = []
for i in range(160):
    area, age = 40 + (i * 37) % 90, (i * 13) % 50
    price = 2.1 * area - 0.8 * age + 5 * np.sin(i)
    rows.append(f"{area},{'' if i == 101 else age},{price:.1f}")
csv = io.StringIO("area,age,price\n" + "\n".join(rows))

table = np.genfromtxt(csv, delimiter=",", skip_header=1)  # expect: non-finite-data
data = torch.tensor(table, dtype=torch.float32)  # expect: non-finite-data
x = torch.stack([(data[:, 0] - 85) / 26, (data[:, 1] - 25) / 15], dim=1)
y = (data[:, 2:] - 160) / 55

torch.manual_seed(0)
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.MSELoss()
for epoch in range(20):
    for xb, yb in loader:  # expect: non-finite-data
        loss = criterion(model(xb), yb)  # expect: non-finite-data
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 4 == 0:
        print(f"epoch {epoch}: {loss.item():.4f}")
