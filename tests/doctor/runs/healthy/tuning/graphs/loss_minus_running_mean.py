import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
X = torch.randn(256, 10)
W = torch.randn(10, 3)
Y = (X @ W).argmax(1)
T = torch.sin(X[:, :1]) + 0.5 * X[:, 1:2]

# centre the loss by a running mean of itself: only the number shown changes
m = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(m.parameters(), 5e-3)
run = 0.0
for _it in range(150):
    b = torch.randint(256, (64,))
    error = F.mse_loss(m(X[b]), T[b])
    run = 0.9 * run + 0.1 * error.item()
    loss = error - run
    opt.zero_grad()
    loss.backward()
    opt.step()
