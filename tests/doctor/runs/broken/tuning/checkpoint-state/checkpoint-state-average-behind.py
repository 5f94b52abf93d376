"""A moving average of the weights that is judged long before it can have followed."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(600, 10)
y = (x[:, 0] * x[:, 1] > 0).long()


class Average:
    def __init__(self, model, decay):
        self.shadow = copy.deepcopy(model)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for kept, new in zip(self.shadow.parameters(), model.parameters()):
            kept.mul_(self.decay).add_(new, alpha=1 - self.decay)  # expect: checkpoint-state


model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
ema = Average(model, 0.9999)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(20):
    for rows in torch.randperm(500).split(50):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
        ema.update(model)
    ema.shadow.eval()
    with torch.no_grad():
        scores = ema.shadow(x[500:])
        val_loss = nn.functional.cross_entropy(scores, y[500:])
        accuracy = (scores.argmax(1) == y[500:]).float().mean()
    print(epoch, loss.item(), val_loss.item(), accuracy.item())
