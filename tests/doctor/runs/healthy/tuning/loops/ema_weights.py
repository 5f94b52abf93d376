# engine: whygrad
import copy

import whygrad
import whygrad.nn.functional as F
from whygrad import nn, optim

whygrad.manual_seed(3)
x = whygrad.randn(300, 6)
y = (x.sum(dim=1) + x[:, 0] * x[:, 1] > 0).long()

net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
averaged = copy.deepcopy(net)
for p in averaged.parameters():
    p.requires_grad_(False)

optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for step in range(150):
    pick = whygrad.randint(0, 300, (32,))
    loss = F.cross_entropy(net(x[pick]), y[pick])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with whygrad.no_grad():
        for slow, fast in zip(averaged.parameters(), net.parameters()):
            slow.mul_(0.95).add_(fast, alpha=0.05)
    if step % 50 == 0:
        print(f"step {step}: {loss.item():.4f}")

with whygrad.no_grad():
    for name, m in (("net", net), ("averaged", averaged)):
        print(name, (m(x).argmax(1) == y).float().mean().item())
