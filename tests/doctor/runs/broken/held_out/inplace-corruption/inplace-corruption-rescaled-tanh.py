import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Policy(nn.Module):
    def __init__(self, low, high):
        super().__init__()
        self.low, self.high = low, high
        self.hidden = nn.Linear(3, 32)
        self.action = nn.Linear(32, 1)

    def forward(self, x):
        out = torch.tanh(self.action(torch.relu(self.hidden(x))))
        out.data.mul_((self.high - self.low) / 2)  # expect: inplace-corruption
        out.data.add_((self.high + self.low) / 2)  # expect: inplace-corruption
        return out


torch.manual_seed(5)
states = torch.randn(400, 3)
steering = 3 * torch.tanh(states[:, :1] - 0.5 * states[:, 1:2] * states[:, 2:])
loader = DataLoader(TensorDataset(states, steering), batch_size=40, shuffle=True)

policy = Policy(-4.0, 4.0)
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
for epoch in range(20):
    total = 0.0
    for s, a in loader:
        loss = ((policy(s) - a) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: {total / len(loader):.4f}")
