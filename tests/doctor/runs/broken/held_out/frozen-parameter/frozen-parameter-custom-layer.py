import math

import torch
import torch.nn as nn
import torch.optim as optim


class MyLinear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        start = torch.randn(n_out, n_in) / math.sqrt(n_in)
        self.weight = nn.Parameter(start, requires_grad=False)  # expect: frozen-parameter
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, x):
        return x @ self.weight.t() + self.bias


torch.manual_seed(0)
model = nn.Sequential(MyLinear(10, 32), nn.ReLU(), MyLinear(32, 1))
inputs = torch.randn(256, 10)
targets = (inputs[:, :1] * 2 - inputs[:, 1:2] + inputs[:, 2:3] * inputs[:, 3:4]) / 2
optimizer = optim.Adam(model.parameters(), lr=0.01)
criterion = nn.MSELoss()

for epoch in range(200):
    prediction = model(inputs)
    loss = criterion(prediction, targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 40 == 0:
        print(f"epoch {epoch}: loss = {loss.item():.4f}")
print(f"done: loss = {loss.item():.4f}")
