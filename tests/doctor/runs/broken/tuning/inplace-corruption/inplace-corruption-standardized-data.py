import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(2, 12)
        self.fc2 = nn.Linear(12, 12)
        self.fc3 = nn.Linear(12, 1)

    def squash(self, z):
        h = torch.sigmoid(z)
        h.data.sub_(h.data.mean(dim=0))  # expect: inplace-corruption
        h.data.div_(h.data.std(dim=0) + 1e-5)  # expect: inplace-corruption
        return h

    def forward(self, x):
        h = self.squash(self.fc1(x))
        h = self.squash(self.fc2(h))
        return self.fc3(h)


torch.manual_seed(2)
x = torch.rand(256, 2) * 4 - 2
y = torch.sin(2 * x[:, :1]) * torch.cos(2 * x[:, 1:])
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(300):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 50 == 49:
        print(f"epoch {epoch + 1}: {loss.item():.4f}")
