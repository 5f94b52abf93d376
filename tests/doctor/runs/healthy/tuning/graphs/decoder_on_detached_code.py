import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
X = torch.randn(256, 10)
W = torch.randn(10, 3)
Y = (X @ W).argmax(1)
T = torch.sin(X[:, :1]) + 0.5 * X[:, 1:2]

f = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
c = nn.Linear(4, 3)
dec = nn.Linear(4, 10)
opt = torch.optim.Adam([*f.parameters(), *c.parameters(), *dec.parameters()], 3e-3)
for _it in range(150):
    b = torch.randint(256, (64,))
    x = X[b]
    z = f(x)
    loss = F.cross_entropy(c(z), Y[b]) + F.mse_loss(dec(z.detach()), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
