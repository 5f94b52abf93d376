import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(19)


def sample(n):
    x = torch.rand(n, 2) * 4 - 2
    y = torch.sin(2 * x[:, :1]) * x[:, 1:] + 0.2 * torch.randn(n, 1)
    return x, y


model = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(  # expect: loss-plateau
    optimizer,
    factor=0.1,
    patience=0,  # expect: loss-plateau
)

for step in range(250):
    x, y = sample(32)
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    scheduler.step(loss.item())  # expect: loss-plateau
    if step % 25 == 0:
        print(f"step {step:3d} loss {loss.item():.4f}")

x, y = sample(500)
print("test mse", round(F.mse_loss(model(x), y).item(), 4))
