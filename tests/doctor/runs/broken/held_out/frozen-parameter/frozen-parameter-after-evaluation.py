import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def evaluate(model, x, y):
    model.eval()
    for p in model.parameters():
        p.requires_grad_(False)  # expect: frozen-parameter
    predicted = model(x).argmax(dim=1)
    model.train()
    return (predicted == y).float().mean().item()


def train_epoch(model, loader, optimizer, criterion):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(11)
x = torch.randn(320, 6)
y = (x[:, 0] + x[:, 1] ** 2 > 1).long()
loader = DataLoader(TensorDataset(x[:256], y[:256]), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Dropout(0.1), nn.Linear(24, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.CrossEntropyLoss()

for epoch in range(12):
    loss = train_epoch(model, loader, optimizer, criterion)
    print(f"epoch {epoch}: loss {loss:.4f}")
    if epoch % 4 == 3:
        print(f"  validation accuracy {evaluate(model, x[256:], y[256:]):.3f}")
