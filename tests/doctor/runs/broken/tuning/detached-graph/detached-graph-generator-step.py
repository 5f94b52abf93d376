import torch
import torch.nn as nn

torch.manual_seed(0)
X = torch.randn(256, 10)
W = torch.randn(10, 3)
Y = (X @ W).argmax(1)
T = torch.sin(X[:, :1]) + 0.5 * X[:, 1:2]

G = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 10))
D = nn.Sequential(nn.Linear(10, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
og = torch.optim.Adam(G.parameters(), 1e-3, betas=(0.5, 0.9))
od = torch.optim.Adam(D.parameters(), 1e-3, betas=(0.5, 0.9))
bce = nn.BCEWithLogitsLoss()

for _it in range(100):
    real = X[torch.randint(256, (32,))]
    fake = G(torch.randn(32, 4))
    od.zero_grad()
    d_real = bce(D(real), torch.ones(32, 1))
    d_fake = bce(D(fake), torch.zeros(32, 1))
    (d_real + d_fake).backward()
    od.step()
    og.zero_grad()
    fake2 = fake.detach()  # expect: detached-graph
    lg = bce(D(fake2), torch.ones(32, 1))  # expect: detached-graph
    lg.backward()
    og.step()
