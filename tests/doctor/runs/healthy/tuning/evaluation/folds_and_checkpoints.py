"""A new model for each fold, the best weights copied, a run that goes on from all of its state."""

import copy
import io

import torch
import torch.nn.functional as F
from torch import nn


def train(model, optimizer, rows):
    for batch in rows[torch.randperm(len(rows))].split(40):
        loss = F.cross_entropy(model(x[batch]), y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def accuracy(model, val_rows):
    with torch.no_grad():
        return (model(x[val_rows]).argmax(1) == y[val_rows]).float().mean().item()


def make():
    model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))
    return model, torch.optim.Adam(model.parameters(), lr=0.01)


torch.manual_seed(0)
x = torch.randn(300, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
folds = torch.arange(300).chunk(3)
for fold in range(3):
    model, opt = make()
    rest = torch.cat([each for i, each in enumerate(folds) if i != fold])
    best, kept = 0.0, None
    for _ in range(4):
        train(model, opt, rest)
        if accuracy(model, folds[fold]) > best:
            best, kept = accuracy(model, folds[fold]), copy.deepcopy(model.state_dict())
    model.load_state_dict(kept)
    print(fold, best, accuracy(model, folds[fold]))

file = io.BytesIO()
torch.save({"epoch": 4, "model": model.state_dict(), "opt": opt.state_dict()}, file)
file.seek(0)
saved = torch.load(file)
model, opt = make()
model.load_state_dict(saved["model"])
opt.load_state_dict(saved["opt"])
for _ in range(saved["epoch"], 8):
    train(model, opt, rest)
print(accuracy(model, folds[2]))
