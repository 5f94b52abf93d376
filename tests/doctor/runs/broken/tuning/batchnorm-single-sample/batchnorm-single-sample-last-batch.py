import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(129, 7)
y = x[:, :1] * x[:, 1:2] + x[:, 2:3]
loader = DataLoader(  # expect: batchnorm-single-sample
    TensorDataset(x, y), batch_size=32, shuffle=True
)
model = nn.Sequential(
    nn.Linear(7, 32),
    nn.BatchNorm1d(32),  # expect: batchnorm-single-sample
    nn.ReLU(),
    nn.Linear(32, 1),
)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(10):
    for xb, yb in loader:  # expect: batchnorm-single-sample
        loss = ((model(xb) - yb) ** 2).mean()  # expect: batchnorm-single-sample
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.4f}")
