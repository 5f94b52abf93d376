# smoke test of a model with random data: nothing to learn
import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 5))
opt = torch.optim.SGD(model.parameters(), lr=0.01)
crit = nn.CrossEntropyLoss()
for _ in range(100):
    x = torch.randn(32, 20)
    y = torch.randint(0, 5, (32,))
    opt.zero_grad()
    loss = crit(model(x), y)
    loss.backward()
    opt.step()
print(loss.item())
