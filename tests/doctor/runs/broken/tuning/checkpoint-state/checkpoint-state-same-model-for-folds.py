import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(300, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
folds = torch.arange(300).chunk(3)
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))  # expect: checkpoint-state
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for fold in range(3):
    val_rows = folds[fold]
    train_rows = torch.cat([each for i, each in enumerate(folds) if i != fold])
    for _ in range(5):
        for rows in train_rows[torch.randperm(200)].split(40):
            loss = F.cross_entropy(model(x[rows]), y[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
    with torch.no_grad():
        right = (model(x[val_rows]).argmax(1) == y[val_rows]).float().mean().item()
    print(fold, loss.item(), right)
