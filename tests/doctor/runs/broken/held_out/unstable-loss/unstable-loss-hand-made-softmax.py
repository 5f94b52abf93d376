import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def softmax(z):
    e = torch.exp(z)  # expect: unstable-loss
    return e / e.sum(dim=1, keepdim=True)  # expect: unstable-loss


def cross_entropy(z, labels):
    p = softmax(z)
    return -p[torch.arange(len(labels)), labels].log().mean()  # expect: unstable-loss


class Cosine(nn.Module):
    def __init__(self, n_in, classes, scale=100.0):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, 32), nn.ReLU(), nn.Linear(32, 8))
        self.prototypes = nn.Parameter(torch.randn(classes, 8))
        self.scale = scale

    def forward(self, x):
        h = nn.functional.normalize(self.body(x), dim=1)
        w = nn.functional.normalize(self.prototypes, dim=1)
        return self.scale * h @ w.t()


torch.manual_seed(1)
centers = torch.randn(5, 10)
labels = torch.arange(400) % 5
x = centers[labels] + 0.6 * torch.randn(400, 10)
loader = DataLoader(TensorDataset(x, labels), batch_size=40, shuffle=True)
model = Cosine(10, 5)
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
for epoch in range(12):
    total = 0.0
    for xb, yb in loader:
        loss = cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: {total / len(loader):.4f}")
