"""Two clouds of points, a sigmoid, and binary cross-entropy with logits."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

rng = np.random.RandomState(0)
centre = np.array([1.5, 1.0])
points = np.concatenate([centre + rng.randn(60, 2), rng.randn(60, 2) - centre])
x = torch.tensor(points, dtype=torch.float32)
y = torch.cat([torch.ones(60), torch.zeros(60)])


class LogisticRegression(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, 1)
        nn.init.constant_(self.linear.weight, 0.01)
        nn.init.constant_(self.linear.bias, 0.0)

    def forward(self, x):
        return self.linear(x).squeeze(-1)


model = LogisticRegression(2)
print(model)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
for epoch in range(1, 41):
    logits = model(x)
    loss = criterion(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        predicted = (torch.sigmoid(logits) > 0.5).float()
        accuracy = (predicted == y).float().mean()
        print(f"epoch {epoch}: loss {loss.item():.4f}, accuracy {accuracy.item():.2%}")

model.eval()
with torch.no_grad():
    probability = torch.sigmoid(model(torch.tensor([[2.0, 1.0], [-2.0, -1.0], [0.0, 0.0]])))
print(probability)
plain = F.binary_cross_entropy(torch.sigmoid(model(x)), y)
print(f"{plain.item():.4f} = {criterion(model(x), y).item():.4f}")
print({name: p.detach().numpy().round(3).tolist() for name, p in model.named_parameters()})
