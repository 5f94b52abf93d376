import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--peak-lr", type=float, default=3.0)  # expect: lr-too-high
parser.add_argument("--warmup", type=int, default=30)
parser.add_argument("--steps", type=int, default=150)
args = parser.parse_args()

torch.manual_seed(11)
t = torch.linspace(-3, 3, 300).unsqueeze(1)
target = torch.sin(2 * t) + 0.3 * t

model = nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))
optimizer = torch.optim.SGD(model.parameters(), args.peak_lr, 0.9)  # expect: lr-too-high
scheduler = torch.optim.lr_scheduler.LambdaLR(
    optimizer, lambda step: min(1.0, (step + 1) / args.warmup)
)

for step in range(args.steps):
    batch = torch.randint(0, 300, (64,))
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(t[batch]), target[batch])
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 15 == 0:
        print(f"{step:4d} lr {scheduler.get_last_lr()[0]:.3f} loss {loss.item():.4f}")
print("last loss", loss.item())
