import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(400, 6)
y = (x[:, 0] - x[:, 1] > 0).float()
train_loader = DataLoader(TensorDataset(x[:320], y[:320]), batch_size=32, shuffle=True)
valid_loader = DataLoader(TensorDataset(x[320:], y[320:]), batch_size=40)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
criterion = nn.BCEWithLogitsLoss()

for epoch in range(5):
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(xb).squeeze(1), yb)
        loss.backward()
        optimizer.step()
    correct, total = 0, 0
    with torch.no_grad():
        for xb, yb in valid_loader:
            predicted = (model(xb) > 0).float()
            correct += (predicted == yb).sum().item()  # expect: metric-bug
            total += yb.size(0)
    print(f"epoch {epoch}: loss {loss.item():.4f} accuracy {correct / total:.3f}")
