import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(2)
X = torch.randn(600, 10)
y = (X[:, 0] + X[:, 1] - X[:, 2] + 0.5 * X[:, 3] ** 2 > 0.5).float().unsqueeze(1)
train_set, val_set = random_split(TensorDataset(X, y), [480, 120])
train_loader = DataLoader(train_set, batch_size=40, shuffle=True)
val_loader = DataLoader(val_set, batch_size=120)

model = nn.Sequential(
    nn.Linear(10, 64),
    nn.ReLU(),
    nn.Dropout(0.2),
    nn.Linear(64, 64),
    nn.ReLU(),
    nn.Dropout(0.2),
    nn.Linear(64, 1),
)
loss_fn = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)


def train_one_epoch():
    model.train()
    last = 0.0
    for xb, yb in train_loader:
        loss = loss_fn(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        last += loss.item() / len(train_loader)
    return last


def validate():
    model.eval()
    with torch.no_grad():
        xb, yb = next(iter(val_loader))
        out = model(xb)
    return loss_fn(out, yb).item(), ((out > 0).float() == yb).float().mean().item()


for epoch in range(10):
    train_loss = train_one_epoch()
    val_loss, val_acc = validate()
    print(f"{epoch:2d} train {train_loss:.3f} val {val_loss:.3f} acc {val_acc:.2f}")
