import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
X = torch.randn(256, 10)
W = torch.randn(10, 3)
Y = (X @ W).argmax(1)
T = torch.sin(X[:, :1]) + 0.5 * X[:, 1:2]

# loss value for logging is replaced: exact number with the surrogate's gradient
net = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), 3e-3)
for _it in range(150):
    b = torch.randperm(256)[:64]
    p = net(X[b])
    sur = F.smooth_l1_loss(p, T[b])
    mse = F.mse_loss(p, T[b])
    loss = sur + (mse - sur).detach()
    opt.zero_grad()
    loss.backward()
    opt.step()
