import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(7)
X = torch.randn(400, 10)
Y = (X[:, 0] + 0.5 * X[:, 1] - X[:, 2] > 0).float().unsqueeze(1)
train_set, val_set = random_split(TensorDataset(X, Y), [300, 100])
train_loader = DataLoader(train_set, batch_size=50, shuffle=True)
val_loader = DataLoader(val_set, batch_size=50)

model = nn.Sequential(
    nn.Linear(10, 32),
    nn.ReLU(),
    nn.Dropout(0.5),
    nn.Linear(32, 32),
    nn.ReLU(),
    nn.Dropout(0.5),
    nn.Linear(32, 1),
)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def train_one_epoch():
    model.train()
    for xb, yb in train_loader:
        optimizer.zero_grad()
        criterion(model(xb), yb).backward()
        optimizer.step()


def validate():  # expect: wrong-mode
    correct, loss = 0, 0.0
    with torch.no_grad():  # expect: wrong-mode
        for xb, yb in val_loader:  # expect: wrong-mode
            out = model(xb)  # expect: wrong-mode
            loss += criterion(out, yb).item()
            correct += ((out > 0).float() == yb).sum().item()
    return loss / len(val_loader), correct / 100


for epoch in range(12):
    train_one_epoch()
    val_loss, val_acc = validate()  # expect: wrong-mode
    print(f"epoch {epoch}: val loss {val_loss:.3f} val acc {val_acc:.2f}")
