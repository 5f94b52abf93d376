import torch
import torch.nn as nn
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)

x = torch.rand(512, 2) * 4 - 2
y = torch.sin(x[:, :1] * 2) + x[:, 1:] ** 2
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)

model = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = StepLR(optimizer, step_size=5, gamma=0.5)  # expect: loss-plateau

for epoch in range(20):
    running = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(xb), yb)
        loss.backward()
        optimizer.step()  # expect: loss-plateau
        scheduler.step()  # expect: loss-plateau
        running += loss.item()
    print(f"epoch {epoch + 1:2d}  loss {running / len(loader):.4f}")
