import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(70)
x = torch.randn(512, 6)
y = (x[:, 0] - x[:, 1] > 0).long()

model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(12):
    x_shuffled = x[torch.randperm(len(x))]  # expect: shuffled-labels
    y_shuffled = y[torch.randperm(len(y))]  # expect: shuffled-labels
    total = 0.0
    for i in range(0, 512, 64):
        xb, yb = x_shuffled[i : i + 64], y_shuffled[i : i + 64]
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch:2d} loss {total / 8:.4f}")
print("accuracy", (model(x).argmax(1) == y).float().mean().item())
