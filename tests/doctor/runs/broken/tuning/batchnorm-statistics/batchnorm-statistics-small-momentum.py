"""Momentum as other libraries count it, turned round once too often."""

import torch
from torch import nn

torch.manual_seed(0)
features = torch.randn(600, 10) * 4 + 7
labels = ((features[:, 0] - 7) * (features[:, 1] - 7) > 0).long()
train, valid = slice(0, 500), slice(500, 600)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(10, 64)
        self.norm = nn.BatchNorm1d(64, momentum=0.001)  # expect: batchnorm-statistics
        self.out = nn.Linear(64, 2)

    def forward(self, x):
        return self.out(torch.relu(self.norm(self.hidden(x))))


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(20):
    net.train()
    for rows in torch.randperm(500).split(50):
        loss = nn.functional.cross_entropy(net(features[train][rows]), labels[train][rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        scores = net(features[valid])
        val_loss = nn.functional.cross_entropy(scores, labels[valid])
        accuracy = (scores.argmax(1) == labels[valid]).float().mean()
    print(f"{epoch} {loss.item():.3f} {val_loss.item():.3f} {accuracy.item():.2f}")
