import torch
import torch.nn as nn


class GatedBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.value = nn.Linear(width, width)
        self.gate = nn.Linear(width, width)

    def forward(self, x):
        gate = torch.sigmoid(self.gate(x))
        value = torch.tanh(self.value(x))
        value *= gate  # expect: inplace-corruption
        return x + value


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), GatedBlock(16), GatedBlock(16), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
loss_fn = nn.MSELoss()
for step in range(100):
    x = torch.randn(32, 4)
    y = x.norm(dim=1, keepdim=True)
    loss = loss_fn(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step}: {loss.item():.4f}")
