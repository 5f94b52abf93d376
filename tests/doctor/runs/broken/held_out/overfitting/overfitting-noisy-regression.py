import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def build(width=64):  # expect: overfitting
    return nn.Sequential(  # expect: overfitting
        nn.Linear(8, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
    )


def run_epoch(model, loader, optimizer=None):
    total = 0.0
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        total += loss.item() * len(x)
    return total / len(loader.dataset)


torch.manual_seed(84)
x = torch.randn(160, 8)
y = 0.5 * x[:, :1] + torch.randn(160, 1)
train_set, val_set = random_split(TensorDataset(x, y), [48, 112])  # expect: overfitting
train_loader = DataLoader(train_set, batch_size=16, shuffle=True)
val_loader = DataLoader(val_set, batch_size=112)

model = build()
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
for epoch in range(70):  # expect: overfitting
    model.train()
    train_loss = run_epoch(model, train_loader, optimizer)
    model.eval()
    with torch.no_grad():
        val_loss = run_epoch(model, val_loader)
    if epoch % 10 == 0:
        print(f"epoch {epoch} train {train_loss:.3f} val {val_loss:.3f}")
