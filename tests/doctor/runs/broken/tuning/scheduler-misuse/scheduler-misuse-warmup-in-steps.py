import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
points = torch.randn(600, 12)
kinds = (points[:, :4].sum(1) > 0).long() + (points[:, 4:8].sum(1) > 0).long()
loader = DataLoader(TensorDataset(points, kinds), batch_size=30, shuffle=True)

WARMUP = 2000
model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
warmup = torch.optim.lr_scheduler.LambdaLR(  # expect: scheduler-misuse
    optimizer, lambda step: min(1.0, (step + 1) / WARMUP)
)

for epoch in range(12):
    total = 0.0
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        total += loss.item()
    warmup.step()  # expect: scheduler-misuse
    print(f"epoch {epoch} loss {total / len(loader):.3f}")
