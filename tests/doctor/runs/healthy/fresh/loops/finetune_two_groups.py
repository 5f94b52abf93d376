import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Linear(16, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU()
        )
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.backbone(x))


labels = torch.randint(0, 4, (300,))
data = torch.randn(4, 16)[labels] + 0.7 * torch.randn(300, 16)
train = DataLoader(TensorDataset(data[:240], labels[:240]), batch_size=24, shuffle=True)
x_val, y_val = data[240:], labels[240:]

model = Model()
optimizer = torch.optim.AdamW(
    [
        {"params": model.backbone.parameters(), "lr": 1e-4},
        {"params": model.head.parameters(), "lr": 1e-2},
    ],
    weight_decay=0.01,
)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
for epoch in range(8):
    model.train()
    for xb, yb in train:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        acc = (model(x_val).argmax(dim=1) == y_val).float().mean()
    print(f"epoch {epoch}: loss {loss.item():.3f}, val acc {acc.item():.3f}")
