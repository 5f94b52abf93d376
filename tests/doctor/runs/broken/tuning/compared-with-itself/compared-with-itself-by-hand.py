import torch
from torch import nn


class Projector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 20))

    def forward(self, x):
        out = self.body(x)
        return out / out.norm(dim=1, keepdim=True)


def nt_xent(z, tau=0.1):
    n = len(z) // 2
    scores = torch.matmul(z, z.T) / tau  # expect: compared-with-itself
    partner = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    log_p = scores - torch.logsumexp(scores, dim=1, keepdim=True)  # expect: compared-with-itself
    return -log_p[torch.arange(2 * n), partner].mean()


torch.manual_seed(3)
pool = torch.randn(200, 16)
net = Projector()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(60):
    x = pool[torch.randint(0, 200, (24,))]
    both = torch.cat([x + 0.1 * torch.randn(24, 16), x + 0.1 * torch.randn(24, 16)])
    loss = nt_xent(net(both))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print(step, loss.item())
