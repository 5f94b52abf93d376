"""Pictures of bars, and a momentum that was meant for a run of many more steps."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)


def pictures(count):
    kind = torch.randint(0, 2, (count,))
    place = torch.randint(1, 7, (count,))
    images = torch.rand(count, 1, 8, 8) * 60 + 90
    for row in range(count):
        if kind[row]:
            images[row, 0, place[row]] += 80
        else:
            images[row, 0, :, place[row]] += 80
    return images, kind


class Block(nn.Module):
    def __init__(self, inside, outside, momentum):
        super().__init__()
        self.conv = nn.Conv2d(inside, outside, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(outside, momentum=momentum)  # expect: batchnorm-statistics

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)))


model = nn.Sequential(
    Block(1, 8, 5e-4), Block(8, 8, 5e-4), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, 2)
)
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
x, y = pictures(512)
x_test, y_test = pictures(128)
for epoch in range(10):
    model.train()
    for start in range(0, 512, 32):
        opt.zero_grad()
        loss = F.cross_entropy(model(x[start : start + 32]), y[start : start + 32])
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        right = (model(x_test).argmax(1) == y_test).float().mean()
    print(epoch, loss.item(), right.item())
