import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.input = nn.Linear(1, 40)
        self.middle = nn.Linear(40, 40)
        self.output = nn.Linear(40, 1)

    def forward(self, x):
        x = self.input(x)
        F.relu(x)  # expect: missing-nonlinearity
        x = self.middle(x)
        F.relu(x)  # expect: missing-nonlinearity
        return self.output(x)


torch.manual_seed(21)
x = torch.linspace(-2, 2, 256).unsqueeze(1)
y = x**2 - 1 + 0.02 * torch.randn(256, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)

net = Regressor()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(25):
    losses = []
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(net(xb), yb)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if epoch % 4 == 0:
        print(f"epoch {epoch}: mse {sum(losses) / len(losses):.4f}")
