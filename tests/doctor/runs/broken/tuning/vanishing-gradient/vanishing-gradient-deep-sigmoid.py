import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class DeepNet(nn.Module):
    def __init__(self, depth=10, width=32):
        super().__init__()
        self.first = nn.Linear(2, width)
        self.hidden = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.last = nn.Linear(width, 2)

    def forward(self, x):
        x = torch.sigmoid(self.first(x))  # expect: vanishing-gradient
        for layer in self.hidden:
            x = torch.sigmoid(layer(x))  # expect: vanishing-gradient
        return self.last(x)


points = torch.rand(400, 2) * 2 - 1
labels = ((points**2).sum(1) < 0.6).long()

model = DeepNet()
optimizer = torch.optim.Adam(model.parameters(), lr=0.002)
for epoch in range(200):
    optimizer.zero_grad()
    logits = model(points)
    loss = F.cross_entropy(logits, labels)
    loss.backward()
    optimizer.step()
    if epoch % 20 == 0:
        accuracy = (logits.argmax(1) == labels).float().mean()
        print(f"epoch {epoch}: loss {loss.item():.4f} acc {accuracy.item():.3f}")
print(f"final loss {loss.item():.4f}")
