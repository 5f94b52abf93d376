import torch
import torch.nn as nn

torch.manual_seed(9)
centres = torch.randn(6, 10) * 2
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 8))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)


def triplet(anchor, positive, negative, margin=1.0):
    near = (anchor - positive).pow(2).sum(dim=1)
    d_pos = near.sqrt()
    d_neg = (anchor - negative).pow(2).sum(dim=1).sqrt()
    return torch.relu(d_neg - d_pos + margin).mean()  # expect: swapped-pair


for step in range(80):
    kind = torch.randint(0, 6, (32,))
    other = (kind + torch.randint(1, 6, (32,))) % 6
    a = centres[kind] + torch.randn(32, 10)
    p = centres[kind] + torch.randn(32, 10)
    n = centres[other] + torch.randn(32, 10)
    loss = triplet(net(a), net(p), net(n))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.item())
