import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
X = torch.randn(256, 10)
W = torch.randn(10, 3)
Y = (X @ W).argmax(1)
T = torch.sin(X[:, :1]) + 0.5 * X[:, 1:2]

f = nn.Sequential(nn.Linear(10, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 16))
probe = nn.Linear(16, 3)
opt = torch.optim.Adam([*f.parameters(), *probe.parameters()], 5e-3)
for _it in range(80):
    b = torch.randint(256, (64,))
    v1 = X[b] + 0.1 * torch.randn(64, 10)
    v2 = X[b] + 0.1 * torch.randn(64, 10)
    z1, z2 = f(v1), f(v2)

    def n(z):
        return (z - z.mean(0)) / (z.std(0) + 1e-4)

    c = n(z1).T @ n(z2) / 64
    d = torch.diagonal(c)
    bt = (d - 1).pow(2).sum() + 0.005 * (c.pow(2).sum() - d.pow(2).sum())
    loss = bt + F.cross_entropy(probe(z1.detach()), Y[b])
    opt.zero_grad()
    loss.backward()
    opt.step()
