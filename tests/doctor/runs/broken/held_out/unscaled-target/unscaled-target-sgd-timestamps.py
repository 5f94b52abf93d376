import torch
import torch.nn as nn
import torch.nn.functional as F


class DelayModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 24), nn.ReLU())
        self.head = nn.Linear(24, 1)

    def forward(self, x):
        return self.head(self.body(x)).squeeze(-1)


def make_batch(n):
    x = torch.rand(n, 4)
    milliseconds = 1500 + 4000 * x[:, 0] + 2500 * x[:, 1] * x[:, 2]  # expect: unscaled-target
    return x, milliseconds


torch.manual_seed(14)
model = DelayModel()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for step in range(150):
    x, delay = make_batch(32)
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), delay)  # expect: unscaled-target
    loss.backward()
    optimizer.step()
    if step % 15 == 0:
        print(step, loss.item())
print("final", loss.item())
