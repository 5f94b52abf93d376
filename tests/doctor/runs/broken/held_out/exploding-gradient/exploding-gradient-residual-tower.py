import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)
        nn.init.kaiming_normal_(self.up.weight, nonlinearity="relu")
        nn.init.kaiming_normal_(self.down.weight, nonlinearity="relu")

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))  # expect: exploding-gradient


class Tower(nn.Module):
    def __init__(self, width=24, depth=14):
        super().__init__()
        self.stem = nn.Linear(6, width)
        blocks = [Block(width) for _ in range(depth)]  # expect: exploding-gradient
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        x = self.stem(x)
        x = self.blocks(x)  # expect: exploding-gradient
        return self.head(x)


x = torch.randn(256, 6)
y = torch.tanh(x[:, :1]) - x[:, 1:2].abs()
loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
model = Tower()
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

for epoch in range(12):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch:2d} loss {loss.item():.4g}")
