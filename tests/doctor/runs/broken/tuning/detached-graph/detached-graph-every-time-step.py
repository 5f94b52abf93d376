import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
X = torch.randn(256, 10)
W = torch.randn(10, 3)
Y = (X @ W).argmax(1)
T = torch.sin(X[:, :1]) + 0.5 * X[:, 1:2]

S = torch.randint(0, 5, (256, 10))
L = S[:, 0]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(5, 8)
        self.i2h = nn.Linear(8 + 32, 32)
        self.h2o = nn.Linear(32, 5)

    def step(self, x, h):
        return torch.tanh(self.i2h(torch.cat([x, h], 1)))

    def forward(self, seq):
        h = torch.zeros(seq.shape[0], 32)
        e = self.emb(seq)
        for t in range(seq.shape[1]):
            h = h.detach()  # expect: detached-graph
            h = self.step(e[:, t], h)
        return self.h2o(h)


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for _it in range(100):
    b = torch.randint(256, (64,))
    loss = F.cross_entropy(net(S[b]), L[b])
    opt.zero_grad()
    loss.backward()
    opt.step()
