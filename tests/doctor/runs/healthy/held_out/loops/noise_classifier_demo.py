import torch
import torch.nn as nn


class Toy(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(20, 32)
        self.act = nn.Tanh()
        self.fc2 = nn.Linear(32, 5)

    def forward(self, x):
        return self.fc2(self.act(self.fc1(x)))


net = Toy()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
loss_fn = nn.CrossEntropyLoss()
for i in range(50):
    # stand-in data until the real loader is ready
    inputs = torch.randn(16, 20)
    labels = torch.randint(0, 5, (16,))
    loss = loss_fn(net(inputs), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"\rstep {i} loss {loss.item():.3f}", end="")
print()
