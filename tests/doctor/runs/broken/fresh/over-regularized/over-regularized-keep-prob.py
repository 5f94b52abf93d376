from dataclasses import dataclass

import torch
import torch.nn as nn

torch.manual_seed(9)


@dataclass
class Config:
    hidden: int = 64
    keep_prob: float = 0.98
    lr: float = 2e-3
    steps: int = 250


def build(c):
    return nn.Sequential(
        nn.Linear(10, c.hidden),
        nn.ReLU(),
        nn.Dropout(c.keep_prob),  # expect: over-regularized
        nn.Linear(c.hidden, c.hidden),
        nn.ReLU(),
        nn.Dropout(c.keep_prob),  # expect: over-regularized
        nn.Linear(c.hidden, 3),
    )


cfg = Config()
x = torch.randn(900, 10)
y = (x[:, 0] + x[:, 1] > 0).long() + (x[:, 2] * x[:, 3] > 0).long()
net = build(cfg)
opt = torch.optim.Adam(net.parameters(), lr=cfg.lr)
for step in range(cfg.steps):
    net.train()
    i = torch.randint(0, 900, (64,))
    loss = nn.functional.cross_entropy(net(x[i]), y[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 49:
        net.eval()
        with torch.no_grad():
            print(step, loss.item(), (net(x).argmax(1) == y).float().mean().item())
