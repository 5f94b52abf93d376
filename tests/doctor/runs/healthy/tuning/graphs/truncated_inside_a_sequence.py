import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
X = torch.randn(256, 10)
W = torch.randn(10, 3)
Y = (X @ W).argmax(1)
T = torch.sin(X[:, :1]) + 0.5 * X[:, 1:2]

# truncated inside one loss: every 6 steps
S = torch.randn(128, 24, 3)
Z = torch.cumsum(S[..., :1], 1) * 0.2


class M(nn.Module):
    def __init__(s):
        super().__init__()
        s.c = nn.GRUCell(3, 24)
        s.o = nn.Linear(24, 1)

    def forward(s, x):
        h = torch.zeros(len(x), 24)
        ys = []
        for t in range(x.size(1)):
            if t % 6 == 0:
                h = h.detach()
            h = s.c(x[:, t], h)
            ys.append(s.o(h))
        return torch.stack(ys, 1)


m = M()
opt = torch.optim.Adam(m.parameters(), 5e-3)
for _it in range(80):
    b = torch.randint(128, (32,))
    loss = F.mse_loss(m(S[b]), Z[b])
    opt.zero_grad()
    loss.backward()
    opt.step()
