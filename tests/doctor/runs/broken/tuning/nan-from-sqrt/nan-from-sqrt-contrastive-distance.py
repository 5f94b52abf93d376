import torch
import torch.nn as nn


def distance(a, b):
    return torch.sqrt(((a - b) ** 2).sum(dim=1))  # expect: nan-from-sqrt


def contrastive(a, b, same, margin=1.0):
    d = distance(a, b)
    return (same * d**2 + (1 - same) * torch.relu(margin - d) ** 2).mean()


torch.manual_seed(0)
labels = torch.arange(120) % 4
points = torch.randn(4, 6)[labels] + 0.4 * torch.randn(120, 6)
net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=0.005)
for step in range(150):
    i = torch.randint(0, 120, (64,))
    j = torch.randint(0, 120, (64,))
    loss = contrastive(net(points[i]), net(points[j]), (labels[i] == labels[j]).float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print(f"step {step}: {loss.item():.4f}")
