import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
X = torch.randn(256, 10)
W = torch.randn(10, 3)
Y = (X @ W).argmax(1)
T = torch.sin(X[:, :1]) + 0.5 * X[:, 1:2]

net = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 3))
opt = torch.optim.Adam(net.parameters(), 3e-3)


def l2_reg(m):
    with torch.no_grad():  # expect: dead-loss-term
        return sum((w**2).sum() for w in m.parameters())  # expect: dead-loss-term


for _it in range(100):
    b = torch.randperm(256)[:64]
    ce = F.cross_entropy(net(X[b]), Y[b])
    loss = ce + 1e-3 * l2_reg(net)  # expect: dead-loss-term
    opt.zero_grad()
    loss.backward()
    opt.step()
