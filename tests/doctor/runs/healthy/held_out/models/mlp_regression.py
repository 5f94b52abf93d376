import argparse

import torch
from torch import nn


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hidden", type=int, default=40)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--epochs", type=int, default=150)
    return parser.parse_args()


def target(x):
    return torch.sin(3 * x[:, :1]) + x[:, 1:2] ** 2


def main():
    args = get_args()
    torch.manual_seed(0)
    x_train = torch.rand(256, 2) * 2 - 1
    x_test = torch.rand(64, 2) * 2 - 1
    model = nn.Sequential(
        nn.Linear(2, args.hidden),
        nn.SiLU(),
        nn.Linear(args.hidden, args.hidden),
        nn.SiLU(),
        nn.Linear(args.hidden, 1),
    )
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        loss = torch.mean((model(x_train) - target(x_train)) ** 2)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if (epoch + 1) % 25 == 0:
            with torch.no_grad():
                test = torch.mean((model(x_test) - target(x_test)) ** 2)
            print(f"epoch {epoch + 1}: train {loss.item():.5f} test {test.item():.5f}")


if __name__ == "__main__":
    main()
