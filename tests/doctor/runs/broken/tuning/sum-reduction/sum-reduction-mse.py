import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(66)
x = torch.randn(512, 8)
y = torch.sin(x[:, :1]) + 0.5 * x[:, 1:2]
loader = DataLoader(TensorDataset(x, y), batch_size=128, shuffle=True)

model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
criterion = nn.MSELoss(reduction="sum")  # expect: sum-reduction
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

for epoch in range(15):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)  # expect: sum-reduction
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item() / len(xb):.4f}")
