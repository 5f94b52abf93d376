import torch
import torch.nn as nn

torch.manual_seed(0)


def pairwise_distance(z):
    diff = z.unsqueeze(0) - z.unsqueeze(1)
    return torch.sqrt((diff**2).sum(dim=-1))  # expect: nan-from-sqrt


def contrastive_loss(z, labels, margin=1.0):
    dist = pairwise_distance(z)  # expect: nan-from-sqrt
    same = (labels.unsqueeze(0) == labels.unsqueeze(1)).float()
    pos = same * dist**2
    neg = (1 - same) * torch.relu(margin - dist) ** 2
    return (pos + neg).mean()


centers = torch.randn(4, 8)
labels = torch.arange(64) % 4
data = centers[labels] + 0.5 * torch.randn(64, 8)

encoder = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-2)

for step in range(60):
    loss = contrastive_loss(encoder(data), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"{step}: {loss.item():.4f}")
