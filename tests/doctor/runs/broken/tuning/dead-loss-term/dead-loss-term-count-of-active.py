import torch
import torch.nn as nn

torch.manual_seed(0)
X = torch.randn(256, 10)
W = torch.randn(10, 3)
Y = (X @ W).argmax(1)
T = torch.sin(X[:, :1]) + 0.5 * X[:, 1:2]


class Sparse(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Linear(10, 40)
        self.d = nn.Linear(40, 10)

    def forward(self, x):
        h = torch.relu(self.e(x))
        return self.d(h), h


m = Sparse()
opt = torch.optim.Adam(m.parameters(), 3e-3)
crit = nn.MSELoss()
for _epoch in range(20):
    for k in range(0, 256, 32):
        xb = X[k : k + 32]
        rec, h = m(xb)
        active = (h > 0).float().mean()  # expect: dead-loss-term
        loss = crit(rec, xb) + 0.5 * active
        opt.zero_grad()
        loss.backward()
        opt.step()
