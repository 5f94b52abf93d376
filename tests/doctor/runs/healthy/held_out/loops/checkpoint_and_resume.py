import os
import tempfile

import torch
import torch.nn as nn


def build():
    model = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    return model, optimizer


def train(model, optimizer, x, y, epochs):
    for _ in range(epochs):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(0)
x = torch.randn(128, 5)
y = (x[:, 0] * 2 - x[:, 1].abs()).unsqueeze(1)
model, optimizer = build()

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "checkpoint.pt")
    print("first part", train(model, optimizer, x, y, 60))
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)

    model, optimizer = build()
    checkpoint = torch.load(path)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    print("second part", train(model, optimizer, x, y, 60))
