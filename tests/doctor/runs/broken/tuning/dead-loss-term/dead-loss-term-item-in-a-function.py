import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
X = torch.randn(256, 10)
W = torch.randn(10, 3)
Y = (X @ W).argmax(1)
T = torch.sin(X[:, :1]) + 0.5 * X[:, 1:2]


def l1_penalty(model, lam=1e-3):
    return lam * sum(p.abs().sum().item() for p in model.parameters())  # expect: dead-loss-term


model = nn.Linear(10, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for _epoch in range(30):
    for k in range(0, 256, 64):
        out = model(X[k : k + 64])
        penalty = l1_penalty(model)
        loss = F.mse_loss(out, T[k : k + 64]) + penalty
        opt.zero_grad()
        loss.backward()
        opt.step()
