import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())

    def forward(self, x):
        return self.layers(x)


def train(model, head, params, x, y, steps, lr):
    optimizer = torch.optim.Adam(params, lr=lr)
    for step in range(steps):
        loss = F.cross_entropy(head(model(x)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"  step {step:3d} loss {loss.item():.4f}")


x = torch.randn(300, 16)
directions = torch.randn(16, 5)
y_old = (x @ directions).argmax(dim=1)
y_new = (y_old < 2).long()

backbone = Backbone()
old_head = nn.Linear(32, 5)
print("pretraining")
train(backbone, old_head, [*backbone.parameters(), *old_head.parameters()], x, y_old, 80, 5e-3)

for p in backbone.parameters():
    p.requires_grad = False
new_head = nn.Linear(32, 2)
print("training the new head")
train(backbone, new_head, new_head.parameters(), x, y_new, 60, 1e-2)
