import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def bump(h):
    values = np.exp(-(h.detach().numpy() ** 2))  # expect: detached-graph
    return torch.from_numpy(values)  # expect: detached-graph


class BumpNet(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.inner = nn.Linear(2, width)
        self.outer = nn.Linear(width, 1)

    def forward(self, x):
        return self.outer(bump(self.inner(x)))


def main():
    torch.manual_seed(4)
    x = torch.rand(256, 2) * 6 - 3
    y = (torch.cos(2 * x[:, :1]) + torch.sin(1.5 * x[:, 1:])) * 1.5
    loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
    model = BumpNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(30):
        running = 0.0
        for xb, yb in loader:
            loss = F.mse_loss(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        if epoch % 5 == 4:
            print(f"{epoch + 1:3d}  {running / len(loader):.4f}")


main()
