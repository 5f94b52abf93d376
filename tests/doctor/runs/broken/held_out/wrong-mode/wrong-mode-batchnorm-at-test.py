import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)
points = torch.randn(500, 4)
classes = (points.sum(dim=1) > 0).long()
train_set = TensorDataset(points[:400], classes[:400])
order = classes[400:].argsort()
test_set = TensorDataset(points[400:][order], classes[400:][order])

model = nn.Sequential(
    nn.BatchNorm1d(4), nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2)
)
loss_fn = nn.CrossEntropyLoss()
optimizer = optim.Adam(model.parameters(), lr=0.01)


def train_epoch():
    model.train()
    total = 0.0
    for x, y in DataLoader(train_set, batch_size=50, shuffle=True):
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / 8


@torch.no_grad()
def test():  # expect: wrong-mode
    correct = 0
    for x, y in DataLoader(test_set, batch_size=5):
        correct += (model(x).argmax(dim=1) == y).sum().item()  # expect: wrong-mode
    return correct / len(test_set)


for epoch in range(12):
    loss = train_epoch()
    print(f"epoch {epoch}: loss {loss:.4f}, test accuracy {test():.2f}")  # expect: wrong-mode
