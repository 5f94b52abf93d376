import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(200, 10)
y = (x @ torch.randn(10, 3)).argmax(1)

model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))
nn.init.constant_(model[0].bias, -30.0)  # expect: dead-relu
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for i in range(200):
    loss = F.cross_entropy(model(x[i : i + 1]), y[i : i + 1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
