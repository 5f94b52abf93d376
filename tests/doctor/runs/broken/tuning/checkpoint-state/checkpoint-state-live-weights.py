import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(300, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(model.parameters(), lr=0.02)
best = 0.0
for epoch in range(12):
    for rows in torch.randperm(220).split(44):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        accuracy = (model(x[220:]).argmax(1) == y[220:]).float().mean().item()
    if accuracy > best:
        best = accuracy
        best_weights = model.state_dict()  # expect: checkpoint-state
    print(epoch, loss.item(), accuracy)
model.load_state_dict(best_weights)
