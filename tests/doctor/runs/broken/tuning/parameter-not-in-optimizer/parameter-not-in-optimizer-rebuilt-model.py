import argparse

import torch
from torch import nn


def build(hidden):
    return nn.Sequential(nn.Linear(4, hidden), nn.ReLU(), nn.Linear(hidden, 1))


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--steps", type=int, default=120)
    return parser.parse_args()


args = parse()
torch.manual_seed(0)
model = build(16)
optimizer = torch.optim.SGD(  # expect: parameter-not-in-optimizer
    model.parameters(), lr=args.lr
)
if args.hidden != 16:
    model = build(args.hidden)  # expect: parameter-not-in-optimizer

inputs = torch.randn(200, 4)
targets = inputs.prod(dim=1, keepdim=True) + inputs.sum(dim=1, keepdim=True)
loss_fn = nn.MSELoss()
for step in range(args.steps):
    optimizer.zero_grad()
    loss = loss_fn(model(inputs), targets)
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print(f"step {step} loss {loss.item():.4f}")
print(f"last loss {loss.item():.4f}")
