import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)

n = 300
labels = torch.arange(n) % 3
points = torch.randn(3, 6)[labels] * 2 + 0.5 * torch.randn(n, 6)

points = points[torch.randperm(n)]  # expect: shuffled-labels
labels = labels[torch.randperm(n)]  # expect: shuffled-labels

train_loader = DataLoader(  # expect: shuffled-labels
    TensorDataset(points[:240], labels[:240]), batch_size=24
)
test_x, test_y = points[240:], labels[240:]

model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(15):
    model.train()
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)  # expect: shuffled-labels
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        acc = (model(test_x).argmax(dim=1) == test_y).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.3f} test acc {acc:.3f}")
