import argparse

import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=4)  # expect: under-trained
parser.add_argument("--lr", type=float, default=0.02)
args = parser.parse_args()

torch.manual_seed(88)
x = torch.randn(640, 5)
y = x[:, :1] * x[:, 1:2] + torch.sin(2 * x[:, 2:3])
x_train, y_train, x_test, y_test = x[:512], y[:512], x[512:], y[512:]

model = nn.Sequential(nn.Linear(5, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
loss_fn = nn.MSELoss()

for epoch in range(args.epochs):  # expect: under-trained
    total = 0.0
    for i in range(0, 512, 32):
        optimizer.zero_grad()
        loss = loss_fn(model(x_train[i : i + 32]), y_train[i : i + 32])
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch + 1}/{args.epochs} train loss {total / 16:.4f}")

with torch.no_grad():
    print("test loss", loss_fn(model(x_test), y_test).item())
