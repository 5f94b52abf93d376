import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)

X = torch.randn(400, 12)
y = (X @ torch.randn(12, 3) + 0.2 * torch.randn(400, 3)).argmax(dim=1)
loader = DataLoader(TensorDataset(X, y), batch_size=40, shuffle=True)

model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(  # expect: over-regularized
    model.parameters(), lr=1e-2, weight_decay=0.5
)

for epoch in range(15):
    model.train()
    total, hits = 0.0, 0
    for xb, yb in loader:
        optimizer.zero_grad()
        out = model(xb)
        loss = criterion(out, yb)
        loss.backward()
        optimizer.step()  # expect: over-regularized
        total += loss.item() * len(xb)
        hits += (out.argmax(dim=1) == yb).sum().item()
    print(f"epoch {epoch}: loss {total / 400:.4f} acc {hits / 400:.3f}")
