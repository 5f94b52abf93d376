import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)

X = torch.randn(500, 10)
y = (X @ torch.randn(10, 3) + 0.3 * torch.randn(500, 3)).argmax(dim=1)
train_set, val_set = random_split(TensorDataset(X, y), [400, 100])
train_loader = DataLoader(train_set, batch_size=40, shuffle=True)
val_loader = DataLoader(val_set, batch_size=50)

model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(10):
    model.train()
    train_loss = 0.0
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        train_loss += loss.item()
    model.eval()
    val_loss, correct = 0.0, 0
    with torch.no_grad():
        for xb, yb in val_loader:
            out = model(xb)
            val_loss += criterion(out, yb).item()
            correct += (out.argmax(dim=1) == yb).sum().item()
    print(
        f"epoch {epoch}: train {train_loss / len(train_loader):.3f} "
        f"val {val_loss / len(val_loader):.3f} acc {correct / 100:.2f}"
    )
