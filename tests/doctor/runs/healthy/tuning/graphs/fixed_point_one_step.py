import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
X = torch.randn(256, 10)
W = torch.randn(10, 3)
Y = (X @ W).argmax(1)
T = torch.sin(X[:, :1]) + 0.5 * X[:, 1:2]


class D(nn.Module):
    def __init__(s):
        super().__init__()
        s.a = nn.Linear(10, 16)
        s.w = nn.Linear(16, 16)
        s.o = nn.Linear(16, 3)

    def forward(s, x):
        z = torch.zeros(len(x), 16)
        i = s.a(x)
        for _ in range(6):
            z = torch.tanh(i + s.w(z)).detach()
        return s.o(torch.tanh(i + s.w(z)))


m = D()
opt = torch.optim.Adam(m.parameters(), 5e-3)
for _it in range(120):
    b = torch.randint(256, (64,))
    loss = F.cross_entropy(m(X[b]), Y[b])
    opt.zero_grad()
    loss.backward()
    opt.step()
