import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(12)


class SparseConv(nn.Module):
    """Keeps only strong filter responses."""

    def __init__(self, margin=5.0):  # expect: dead-relu
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.fc = nn.Linear(16, 2)
        self.margin = margin

    def forward(self, img):
        h = F.relu(self.conv1(img) - self.margin)  # expect: dead-relu
        h = F.max_pool2d(h, 2)
        h = F.relu(self.conv2(h) - self.margin)  # expect: dead-relu
        return self.fc(h.mean(dim=(2, 3)))


images = 0.3 * torch.rand(96, 1, 8, 8)
targets = torch.arange(96) % 2
images[targets == 0, :, 3:5, :] += 0.7
images[targets == 1, :, :, 3:5] += 0.7

net = SparseConv()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(40):
    order = torch.randperm(96)
    for i in range(0, 96, 32):
        idx = order[i : i + 32]
        opt.zero_grad()
        loss = F.cross_entropy(net(images[idx]), targets[idx])
        loss.backward()
        opt.step()
    if epoch % 8 == 0:
        print("epoch", epoch, "loss", round(loss.item(), 4))
with torch.no_grad():
    print("acc", (net(images).argmax(1) == targets).float().mean().item())
