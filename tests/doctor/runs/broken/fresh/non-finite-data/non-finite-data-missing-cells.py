import io

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(0)
rows = rng.normal(size=(120, 4))
lines = [",".join(f"{v:.3f}" for v in row) for row in rows]
lines[37] = "0.512,,0.204,1.310"
lines[81] = "-0.733,1.002,,0.097"

table = np.genfromtxt(io.StringIO("\n".join(lines)), delimiter=",")  # expect: non-finite-data
X = torch.tensor(table[:, :3], dtype=torch.float32)  # expect: non-finite-data
y = torch.tensor(rows[:, :1] - rows[:, 1:2], dtype=torch.float32)

torch.manual_seed(0)
loader = DataLoader(TensorDataset(X, y), batch_size=24, shuffle=True)  # expect: non-finite-data
model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
criterion = nn.MSELoss()

for epoch in range(10):
    for xb, yb in loader:  # expect: non-finite-data
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)  # expect: non-finite-data
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.4f}")
