import torch
import torch.nn.functional as F
from torch import nn


def kl_divergence(p, q):
    return (p * (torch.log(p) - torch.log(q))).sum(dim=1).mean()  # expect: nan-from-log


def smooth_targets(labels, classes):
    return F.one_hot(labels, classes).float()


def main():
    x = torch.randn(300, 6)
    labels = (x @ torch.randn(6, 4)).argmax(dim=1)
    targets = smooth_targets(labels, 4)
    model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 4), nn.Softmax(dim=1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for step in range(100):
        loss = kl_divergence(targets, model(x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step}: kl {loss.item():.4f}")


main()
