import torch
import torch.nn as nn
import torch.nn.functional as F


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 4), nn.Tanh())
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.backbone(x))


def run(model, x, y, epochs, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for _ in range(epochs):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    accuracy = (model(x).argmax(1) == y).float().mean().item()
    print(f"loss {loss.item():.4f} accuracy {accuracy:.3f}")


torch.manual_seed(5)
angle = torch.rand(400) * 6.2832
y = torch.arange(400) % 2
radius = 1.0 + y.float() + 0.15 * torch.randn(400)
x = torch.stack([radius * torch.cos(angle), radius * torch.sin(angle)], dim=1)

model = Classifier()
print("stage 1: head only")
for p in model.backbone.parameters():
    p.requires_grad = False  # expect: frozen-parameter
run(model, x, y, epochs=30, lr=0.01)

print("stage 2: everything")
model.backbone.requires_grad = True  # expect: frozen-parameter
run(model, x, y, epochs=150, lr=0.02)
