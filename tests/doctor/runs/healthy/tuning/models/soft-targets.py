# label smoothing + mixup: the loss stays high although all is learned
import torch
import torch.nn as nn

torch.manual_seed(0)
C = torch.randn(10, 20) * 2
y = torch.randint(0, 10, (1000,))
x = C[y] + torch.randn(1000, 20)
m = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 10))
o = torch.optim.Adam(m.parameters(), 3e-3)
crit = nn.CrossEntropyLoss(label_smoothing=0.5)
for _ in range(4):
    for i in torch.randperm(1000).split(50):
        lam = torch.distributions.Beta(0.8, 0.8).sample()
        j = i[torch.randperm(len(i))]
        out = m(lam * x[i] + (1 - lam) * x[j])
        loss = lam * crit(out, y[i]) + (1 - lam) * crit(out, y[j])
        o.zero_grad()
        loss.backward()
        o.step()
print(loss.item(), (m(x).argmax(1) == y).float().mean())
