"""Fit a line three ways: gradients by hand, autograd, and nn with an optimizer."""

import numpy as np
import torch
import torch.nn as nn

x = torch.linspace(-1, 1, 40).unsqueeze(1)
noise = torch.from_numpy(np.sin(17 * np.arange(40)).astype(np.float32)).unsqueeze(1)
y = 3 * x - 0.5 + 0.1 * noise

w, b = torch.zeros(1), torch.zeros(1)
for _ in range(50):
    error = x * w + b - y
    w -= 0.3 * 2 * (error * x).mean()
    b -= 0.3 * 2 * error.mean()
print(f"by hand:  w {w.item():.4f}  b {b.item():.4f}")

w, b = torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)
for _ in range(50):
    loss = ((x * w + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.3 * w.grad
        b -= 0.3 * b.grad
        w.grad.zero_()
        b.grad.zero_()
print(f"autograd: w {w.item():.4f}  b {b.item():.4f}")

model = nn.Linear(1, 1)
nn.init.zeros_(model.weight)
nn.init.zeros_(model.bias)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
for epoch in range(50):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        print(f"epoch {epoch:2d}  loss {loss.item():.5f}")
print(f"nn:       w {model.weight.item():.4f}  b {model.bias.item():.4f}")

solution = torch.linalg.lstsq(torch.cat([x, torch.ones_like(x)], dim=1), y).solution
print(f"exact:    w {solution[0].item():.4f}  b {solution[1].item():.4f}")
