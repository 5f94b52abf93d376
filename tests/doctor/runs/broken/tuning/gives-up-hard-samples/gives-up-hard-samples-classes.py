import torch
import torch.nn as nn
import torch.nn.functional as F


class FocalLoss(nn.Module):
    def __init__(self, gamma):
        super().__init__()
        self.gamma = gamma

    def forward(self, scores, labels):
        log_p = F.log_softmax(scores, dim=1).gather(1, labels.unsqueeze(1)).squeeze(1)
        weight = log_p.exp().pow(self.gamma)  # expect: gives-up-hard-samples
        return -(weight * log_p).mean()  # expect: gives-up-hard-samples


torch.manual_seed(11)
labels = torch.randint(0, 4, (400,))
x = (torch.randn(4, 8) * 1.2)[labels] + torch.randn(400, 8)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
criterion = FocalLoss(2.0)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(100):
    rows = torch.randint(0, 400, (50,))
    loss = criterion(net(x[rows]), labels[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 25 == 0:
        print(step, loss.item())
