import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(74)
normal = torch.randn(970, 6)
fraud = torch.randn(30, 6) + 0.9
x = torch.cat([normal, fraud])
y = torch.cat([torch.zeros(970, 1), torch.ones(30, 1)])  # expect: class-imbalance
loader = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)  # expect: class-imbalance

model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
criterion = nn.BCEWithLogitsLoss()  # expect: class-imbalance
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)

for epoch in range(8):
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)  # expect: class-imbalance
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.4f}")

with torch.no_grad():
    flagged = model(x) > 0
    print("accuracy", (flagged.float() == y).float().mean().item())
    print("recall", flagged[y == 1].float().mean().item())
