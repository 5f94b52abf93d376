import torch
import torch.nn as nn


def binary_cross_entropy(logits, target):
    p = torch.sigmoid(logits)  # expect: unstable-loss
    loss = -(target * torch.log(p) + (1 - target) * torch.log(1 - p))  # expect: unstable-loss
    return loss.mean()


torch.manual_seed(0)
target = (torch.arange(200) % 2).float()
x = torch.randn(200, 2) * 0.5 + (target * 4 - 2).unsqueeze(1)

model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(200):
    for idx in torch.randperm(200).split(100):
        loss = binary_cross_entropy(model(x[idx]).squeeze(1), target[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 25 == 0:
        print(f"epoch {epoch}: {loss.item():.6f}")
print(f"last: {loss.item():.6f}")
