"""Layers that behave differently in training and in use."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.sin(torch.arange(80) * 0.9).view(20, 4) * 3 + 1
norm = nn.BatchNorm1d(4)
out = norm(x)
print(out.mean(0).abs().max() < 1e-5, f"{out.var(0, unbiased=False).mean():.3f}")
print(norm.running_mean, norm.running_var, norm.num_batches_tracked)
norm.eval()
print(norm(x)[0].detach())
print(norm.running_mean, norm.num_batches_tracked.item())

dropout = nn.Dropout(p=0.5)
ones = torch.ones(1000)
kept = dropout(ones)
print(sorted(set(kept.tolist())), abs(kept.mean().item() - 1) < 0.2)
dropout.eval()
print(torch.equal(dropout(ones), ones), F.dropout(ones, 0.3, training=False).sum().item())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.AvgPool2d(2)
        )
        self.drop = nn.Dropout(0.0)
        self.head = nn.Linear(4 * 3 * 3, 2)

    def forward(self, x):
        return self.head(self.drop(self.features(x).flatten(1)))


model = Net()
for number, parameter in enumerate(model.parameters()):
    if parameter.dim() > 1:
        wave = torch.cos(torch.arange(parameter.numel()) * 1.1 + number)
        parameter.data.copy_(wave.view_as(parameter) * 0.3)
    elif number != 1:
        nn.init.zeros_(parameter)
images = torch.sin(torch.arange(16 * 36) * 0.41).view(16, 1, 6, 6)
labels = (images.mean(dim=(1, 2, 3)) > images.mean()).long()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(10):
    model.train()
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 3 == 0:
        model.eval()
        with torch.no_grad():
            print(
                f"{epoch}: {loss.item():.4f}, in use {F.cross_entropy(model(images), labels):.4f}"
            )
print(model.training, model.features[1].training, model.train().training)
print({name: tuple(tensor.shape) for name, tensor in model.state_dict().items()})
print(model.features[1].running_mean, model.features[1].running_var)
