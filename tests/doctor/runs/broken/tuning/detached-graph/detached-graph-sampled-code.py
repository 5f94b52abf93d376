import torch
import torch.nn as nn

torch.manual_seed(0)
X = torch.randn(256, 10)
W = torch.randn(10, 3)
Y = (X @ W).argmax(1)
T = torch.sin(X[:, :1]) + 0.5 * X[:, 1:2]


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(10, 32)
        self.mu = nn.Linear(32, 4)
        self.lv = nn.Linear(32, 4)
        self.dec = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 10))

    def encode(self, x):
        h = torch.relu(self.enc(x))
        return self.mu(h), self.lv(h)

    def sample(self, mu, lv):
        return torch.distributions.Normal(mu, (0.5 * lv).exp()).sample()  # expect: detached-graph

    def forward(self, x):
        mu, lv = self.encode(x)
        z = self.sample(mu, lv)
        return self.dec(z), mu, lv


m = VAE()
opt = torch.optim.Adam(m.parameters(), 2e-3)
for _it in range(150):
    x = X[torch.randint(256, (64,))]
    r, mu, lv = m(x)
    rec = ((r - x) ** 2).sum(1).mean()
    kl = -0.5 * (1 + lv - mu**2 - lv.exp()).sum(1).mean()
    loss = rec + 0.1 * kl
    opt.zero_grad()
    loss.backward()
    opt.step()
