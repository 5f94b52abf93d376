import io

import torch
import torch.nn.functional as F
from torch import nn


def train(model, optimizer, epochs):
    for epoch in epochs:
        for rows in torch.randperm(300).split(50):
            loss = F.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


torch.manual_seed(0)
x = torch.randn(300, 8)
y = (x @ torch.randn(8, 3)).argmax(1)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
adam = torch.optim.Adam(net.parameters(), lr=0.01)
train(net, adam, range(5))
file = io.BytesIO()
torch.save({"epoch": 5, "net": net.state_dict(), "adam": adam.state_dict()}, file)

file.seek(0)
saved = torch.load(file)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
net.load_state_dict(saved["net"])
adam = torch.optim.Adam(net.parameters(), lr=0.01)  # expect: checkpoint-state
train(net, adam, range(saved["epoch"], 10))
