import argparse

import torch
import torch.nn as nn
from torch.optim.lr_scheduler import CosineAnnealingLR


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=25)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args([])


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    x = torch.randn(256, 6)
    y = (x[:, :2] ** 2).sum(dim=1, keepdim=True) - x[:, 2:3]
    model = nn.Sequential(nn.Linear(6, 48), nn.GELU(), nn.Linear(48, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-2)
    scheduler = CosineAnnealingLR(optimizer, T_max=args.epochs)
    for epoch in range(args.epochs):
        total = 0.0
        for xb, yb in zip(x.split(32), y.split(32), strict=True):
            optimizer.zero_grad()
            loss = nn.functional.smooth_l1_loss(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        lr = optimizer.param_groups[0]["lr"]
        print(f"epoch {epoch} loss {total / 8:.4f} lr {lr:.5f}")


if __name__ == "__main__":
    main()
