import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(92)
x = torch.rand(320, 6) * 2 - 1
usage = x[:, 0] + 0.5 * x[:, 1] * x[:, 2]
loader = DataLoader(TensorDataset(x, usage), batch_size=32, shuffle=True)

model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)


def l1(prediction, target):
    return torch.mean(torch.abs(prediction - target))  # expect: loss-broadcast


for epoch in range(15):
    total = 0.0
    for xb, yb in loader:
        loss = l1(model(xb), yb)  # expect: loss-broadcast
        loss.backward()  # also: missing-zero-grad
        optimizer.step()  # also: missing-zero-grad
        total += loss.item()
    print(f"epoch {epoch} mean error {total / len(loader):.4f}")
