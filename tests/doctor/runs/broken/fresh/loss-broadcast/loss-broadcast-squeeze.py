import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(1)
features = rng.normal(size=(256, 5)).astype(np.float32)
target = (features[:, 0] * 2 - features[:, 2] + 0.1 * rng.normal(size=256)).astype(np.float32)

torch.manual_seed(0)
dataset = TensorDataset(  # expect: loss-broadcast
    torch.from_numpy(features), torch.from_numpy(target)
)
loader = DataLoader(dataset, batch_size=32, shuffle=True)

model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.MSELoss()

for epoch in range(20):
    total = 0.0
    for x, y in loader:
        pred = model(x)  # expect: loss-broadcast
        loss = criterion(pred, y)  # expect: loss-broadcast
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch:2d} mse {total / len(loader):.4f}")
