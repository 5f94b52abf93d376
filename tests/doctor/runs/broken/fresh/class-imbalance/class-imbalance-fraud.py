import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)

n = 1000
fraud = torch.zeros(n)
fraud[torch.randperm(n)[:20]] = 1.0  # expect: class-imbalance
X = torch.randn(n, 6) + 1.2 * fraud.unsqueeze(1)
loader = DataLoader(  # expect: class-imbalance
    TensorDataset(X, fraud), batch_size=100, shuffle=True
)

model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
criterion = nn.BCEWithLogitsLoss()  # expect: class-imbalance
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

for epoch in range(15):
    model.train()
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb).squeeze(1), yb)  # expect: class-imbalance
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        pred = (model(X).squeeze(1) > 0).float()
    acc = (pred == fraud).float().mean().item()
    recall = (pred * fraud).sum().item() / fraud.sum().item()
    print(f"epoch {epoch}: loss {total / 10:.4f} acc {acc:.3f} recall {recall:.3f}")
