import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

x = torch.randn(320, 4)
y = 3 * x[:, 0] - x[:, 1] + 0.5 * x[:, 2]
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)

model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(15):
    total = 0.0
    for inputs, targets in loader:
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, targets)  # expect: loss-broadcast
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch:2d} loss {total / len(loader):.4f}")
