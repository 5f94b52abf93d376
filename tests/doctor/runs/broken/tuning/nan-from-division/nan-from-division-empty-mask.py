import torch
import torch.nn as nn


def masked_mse(pred, target, mask):
    error = (pred - target) ** 2 * mask
    return (error.sum(dim=1) / mask.sum(dim=1)).mean()  # expect: nan-from-division


torch.manual_seed(0)
length = 8
lengths = (torch.arange(200) * 7) % 9
mask = (torch.arange(length).unsqueeze(0) < lengths.unsqueeze(1)).float()
x = torch.randn(200, length) * mask
y = torch.cumsum(x, dim=1)

model = nn.Sequential(nn.Linear(length, 64), nn.ReLU(), nn.Linear(64, length))
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
for epoch in range(40):
    total = 0.0
    for start in range(0, 200, 20):
        sl = slice(start, start + 20)
        loss = masked_mse(model(x[sl]), y[sl], mask[sl])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 10 == 0:
        print(f"epoch {epoch}: {total / 10:.4f}")
