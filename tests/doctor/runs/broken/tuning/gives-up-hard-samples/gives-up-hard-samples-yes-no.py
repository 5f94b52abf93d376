import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(10)
x = torch.randn(400, 8)
y = (x[:, 0] + x[:, 1] * x[:, 2] > 1.0).float()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)


def focal(logits, target, gamma=2.0):
    each = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    p = torch.exp(-each)
    return (p**gamma * each).mean()  # expect: gives-up-hard-samples


for epoch in range(10):
    for start in range(0, 400, 50):
        loss = focal(model(x[start : start + 50]).squeeze(1), y[start : start + 50])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
