import torch
import torch.nn as nn
import torch.nn.functional as F


class Spam(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(12, 24)
        self.out = nn.Linear(24, 1)

    def forward(self, x):
        return torch.sigmoid(self.out(torch.tanh(self.hidden(x))))


torch.manual_seed(1)
mails = torch.randn(500, 12)
spam = (mails[:, :3].sum(1) > 0).float()
net = Spam()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(80):
    rows = torch.randint(0, 400, (50,))
    loss = F.binary_cross_entropy(net(mails[rows])[:, 0], spam[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()

net.eval()
output = net(mails[400:])
_, answer = torch.max(output, 1)  # expect: metric-bug
print("test accuracy", (answer == spam[400:]).float().mean().item())
