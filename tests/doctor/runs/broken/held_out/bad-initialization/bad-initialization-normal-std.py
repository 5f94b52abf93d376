import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(12, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 5)
        )
        self.reset_parameters()

    def reset_parameters(self):
        for m in self.net:
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0.0, std=8.0)  # expect: bad-initialization
                nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.net(x)


def run_epoch(model, loader, criterion, optimizer):
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(xb)
    return total / len(loader.dataset)


torch.manual_seed(0)
x = torch.randn(320, 12)
y = (x @ torch.randn(12, 5)).argmax(1)
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(12):
    print(f"epoch {epoch}: {run_epoch(model, loader, nn.CrossEntropyLoss(), optimizer):.4f}")
