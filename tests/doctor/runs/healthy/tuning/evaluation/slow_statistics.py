"""A momentum of 0.02 and a moving average of the weights, both given the time that they need."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(640, 6) * 3 + 5
y = (x[:, :2].sum(1) > 10).long()
model = nn.Sequential(
    nn.Linear(6, 32), nn.BatchNorm1d(32, momentum=0.02), nn.ReLU(), nn.Linear(32, 2)
)
average = copy.deepcopy(model)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(25):
    model.train()
    for rows in torch.randperm(512).split(32):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for mean, weight in zip(average.parameters(), model.parameters()):
                mean.lerp_(weight, 0.05)
            for mean, buffer in zip(average.buffers(), model.buffers()):
                mean.copy_(buffer)
    model.eval()
    average.eval()
    with torch.no_grad():
        for judged in (model, average):
            scores = judged(x[512:])
            print(epoch, nn.functional.cross_entropy(scores, y[512:]).item())
