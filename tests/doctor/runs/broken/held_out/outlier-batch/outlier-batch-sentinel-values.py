import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Telemetry(Dataset):
    def __init__(self, n=512):
        g = torch.Generator().manual_seed(6)
        self.x = torch.randn(n, 5, generator=g)
        self.y = (self.x[:, 0] - self.x[:, 1] + self.x[:, 2] * self.x[:, 3]).unsqueeze(1)
        self.y[300:316] = -9999.0  # expect: outlier-batch

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


torch.manual_seed(6)
loader = DataLoader(Telemetry(), batch_size=16)
net = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
for epoch in range(5):
    for step, (x, y) in enumerate(loader):
        opt.zero_grad()
        loss = F.mse_loss(net(x), y)  # expect: outlier-batch
        loss.backward()
        opt.step()
        if step % 8 == 0:
            print(f"epoch {epoch} step {step} loss {loss.item():.4f}")
