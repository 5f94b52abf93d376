import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def block(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, n_out), nn.BatchNorm1d(n_out), nn.ReLU())


def build(depth=6):
    hidden = [block(32, 32) for _ in range(depth)]
    return nn.Sequential(block(6, 32), *hidden, nn.Linear(32, 3))


def validate(model, x, y):
    model.eval()  # expect: wrong-mode
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


torch.manual_seed(0)
x = torch.randn(360, 6)
y = (x[:, :3] - x[:, 3:]).argmax(dim=1)
loader = DataLoader(TensorDataset(x[:300], y[:300]), batch_size=50, shuffle=True)
model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
criterion = nn.CrossEntropyLoss()

print(f"before training: accuracy {validate(model, x[300:], y[300:]):.3f}")
for epoch in range(12):
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)  # expect: wrong-mode
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 3 == 2:
        accuracy = validate(model, x[300:], y[300:])  # expect: wrong-mode
        print(f"epoch {epoch + 1}: loss {total / len(loader):.4f} accuracy {accuracy:.3f}")
