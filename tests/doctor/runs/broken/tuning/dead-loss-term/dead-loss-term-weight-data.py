# engine: torch
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
X = torch.randn(256, 10)
W = torch.randn(10, 3)
Y = (X @ W).argmax(1)
T = torch.sin(X[:, :1]) + 0.5 * X[:, 1:2]

model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(12):
    for i in range(0, 256, 32):
        out = model(X[i : i + 32])
        loss = F.cross_entropy(out, Y[i : i + 32])
        l1 = 0
        for p in model.parameters():
            l1 += p.data.abs().sum()  # expect: dead-loss-term
        loss = loss + 1e-3 * l1  # expect: dead-loss-term
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
