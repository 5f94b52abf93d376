import math

import torch
import torch.nn as nn

torch.manual_seed(0)

t = torch.rand(200) * math.pi
upper = torch.stack([torch.cos(t), torch.sin(t)], dim=1)
lower = torch.stack([1 - torch.cos(t), 0.5 - torch.sin(t)], dim=1)
X = torch.cat([upper, lower]) + 0.05 * torch.randn(400, 2)
y = torch.cat([torch.zeros(200), torch.ones(200)]).long()


class MoonsModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer_1 = nn.Linear(2, 32)
        self.layer_2 = nn.Linear(32, 32)
        self.layer_3 = nn.Linear(32, 2)

    def forward(self, x):  # expect: missing-nonlinearity
        return self.layer_3(self.layer_2(self.layer_1(x)))  # expect: missing-nonlinearity


model = MoonsModel()
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)

for epoch in range(150):
    model.train()
    logits = model(X)
    loss = loss_fn(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 30 == 0:
        acc = (logits.argmax(dim=1) == y).float().mean().item()
        print(f"Epoch {epoch} | loss {loss.item():.4f} | acc {acc:.3f}")
