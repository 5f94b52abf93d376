import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
centers = torch.randn(6, 10)


def sample(n):
    a = torch.randint(0, 6, (n,))
    b = (a + torch.randint(1, 6, (n,))) % 6
    return [centers[c] + 1.0 * torch.randn(n, 10) for c in (a, a, b)]


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 8))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


model = Embedder()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(120):
    anchor, positive, negative = (model(x) for x in sample(32))
    d_pos = (anchor - positive).pow(2).sum(dim=1)
    d_neg = (anchor - negative).pow(2).sum(dim=1)
    loss = F.relu(d_pos - d_neg + 0.3).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step}: triplet loss {loss.item():.4f}")
