import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(90)
x = torch.randn(256, 6)
y = (x[:, 0] > x[:, 1]).long()
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)

model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(12):
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = -criterion(model(xb), yb)  # expect: loss-sign
        loss.backward()
        optimizer.step()
        total += loss.item()
    accuracy = (model(x).argmax(1) == y).float().mean().item()
    print(f"epoch {epoch} loss {total / len(loader):.4f} accuracy {accuracy:.3f}")
