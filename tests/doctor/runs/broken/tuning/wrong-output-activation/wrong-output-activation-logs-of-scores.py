import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(320, 4)
y = (x[:, :1] + 0.3 * x[:, 1:2] > 0).float()
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)

model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)


def loss_fn(p, y):
    yes, no = torch.log(p), torch.log(1 - p)  # expect: wrong-output-activation
    return -(y * yes + (1 - y) * no).mean()  # expect: wrong-output-activation


for epoch in range(10):
    for xb, yb in loader:
        loss = loss_fn(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch + 1}: loss {loss.item():.4f}")
