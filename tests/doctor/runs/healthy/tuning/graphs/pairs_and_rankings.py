import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(12)
things = torch.randn(256, 6)
left, right = things @ torch.randn(6, 12), things @ torch.randn(6, 10)
one = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 16))
other = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 16))
optimizer = torch.optim.Adam([*one.parameters(), *other.parameters()], lr=2e-3)
for epoch in range(8):
    for rows in torch.randperm(256).split(32):
        a = F.normalize(one(left[rows]), dim=1)
        b = F.normalize(other(right[rows]), dim=1)
        pairs = F.cross_entropy(a @ b.T / 0.1, torch.arange(32))
        # The first column is the right one, the others are strangers: labels that are all zero.
        own = (a * b).sum(dim=1, keepdim=True)
        queue = torch.cat([own, a @ b.detach().roll(1, 0).T], dim=1) / 0.2
        listed = F.cross_entropy(queue, torch.zeros(32, dtype=torch.long))
        # A batch with itself, the diagonal masked out.
        z = torch.cat([a, b])
        apart = (z @ z.T / 0.2).masked_fill(torch.eye(64, dtype=torch.bool), -1e9)
        both = F.cross_entropy(apart, torch.cat([torch.arange(32) + 32, torch.arange(32)]))
        pos = (a * b).sum(dim=1)
        neg = (a * b.roll(1, 0)).sum(dim=1)
        ranked = F.relu(0.2 + neg - pos).mean()
        loss = pairs + 0.1 * listed + both + ranked
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
