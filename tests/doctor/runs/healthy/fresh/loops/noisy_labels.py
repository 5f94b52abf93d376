import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

X = torch.randn(400, 6)
y = (X[:, 0] - X[:, 1] > 0).float()
flip = torch.rand(400) < 0.15
y = torch.where(flip, 1 - y, y)
loader = DataLoader(TensorDataset(X, y), batch_size=8, shuffle=True)

model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
criterion = nn.BCEWithLogitsLoss()

for epoch in range(5):
    total, correct = 0.0, 0
    for xb, yb in loader:
        out = model(xb).squeeze(-1)
        loss = criterion(out, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        correct += ((out > 0).float() == yb).sum().item()
    print(f"epoch {epoch}: loss {total / len(loader):.3f} acc {correct / 400:.3f}")
