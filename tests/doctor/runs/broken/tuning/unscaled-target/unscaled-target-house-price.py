import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
features = torch.randn(400, 5)
price = 250_000 + 60_000 * features[:, :1] - 30_000 * features[:, 1:2] * features[:, 2:3]
loader = DataLoader(TensorDataset(features, price), batch_size=50)  # expect: unscaled-target

model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(25):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)  # expect: unscaled-target
        loss.backward()
        optimizer.step()
    if epoch % 4 == 0:
        print(f"epoch {epoch} loss {loss.item():.3e}")

with torch.no_grad():
    error = (model(features) - price).abs().mean() / price.std()
print(f"mean error in standard deviations: {error.item():.3f}")
