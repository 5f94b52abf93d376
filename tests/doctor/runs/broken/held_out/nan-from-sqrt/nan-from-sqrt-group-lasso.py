import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Adapter(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.down = nn.Linear(width, 8)
        self.up = nn.Linear(8, width)
        nn.init.zeros_(self.up.weight)
        nn.init.zeros_(self.up.bias)

    def forward(self, x):
        return x + self.up(torch.relu(self.down(x)))


def group_lasso(model):
    total = 0.0
    for module in model.modules():
        if isinstance(module, nn.Linear):
            total = total + (module.weight**2).sum(dim=1).sqrt().sum()  # expect: nan-from-sqrt
    return total


torch.manual_seed(7)
x = torch.randn(300, 6)
y = torch.relu(x[:, :1] + x[:, 3:4]) - x[:, 5:]
loader = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), Adapter(16), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
criterion = nn.MSELoss()
for epoch in range(20):
    for xb, yb in loader:
        fit = criterion(model(xb), yb)
        loss = fit + 1e-3 * group_lasso(model)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1}: fit {fit.item():.4f} loss {loss.item():.4f}")
