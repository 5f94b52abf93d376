import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)

X = torch.randn(300, 6)
price = (  # expect: unscaled-target
    210_000 + 45_000 * X[:, :1] + 20_000 * X[:, 1:2] - 15_000 * X[:, 2:3]
)
loader = DataLoader(TensorDataset(X, price), batch_size=30, shuffle=True)  # expect: unscaled-target


class HousePriceModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 1)
        )

    def forward(self, x):
        return self.net(x)


model = HousePriceModel()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(20):
    for features, target in loader:
        optimizer.zero_grad()
        loss = criterion(model(features), target)  # expect: unscaled-target
        loss.backward()
        optimizer.step()
    print(f"Epoch {epoch + 1}, loss: {loss.item():.1f}")
