"""A function that makes one update, and an optimizer for it, with momentum."""

import torch
import torch.nn.functional as F

torch.manual_seed(0)
features = torch.randn(512, 12)
labels = (features[:, :3].sum(1) > 0).long()


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(12, 24)
        self.second = torch.nn.Linear(24, 2)

    def forward(self, x):
        return self.second(F.relu(self.first(x)))


def train_step(model, x, y, lr):
    opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.95)  # expect: optimizer-remade
    opt.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
    return loss.item()


model = Classifier()
for epoch in range(8):
    total = 0.0
    for start in range(0, 512, 64):
        total += train_step(model, features[start : start + 64], labels[start : start + 64], 0.01)
    print(epoch, total / 8)
