import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(400, 8)
y = 2 * x[:, :1] - x[:, 1:2]
loader = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True)

model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.MSELoss()

total_loss = 0  # expect: graph-kept-alive
n_batches = 0
for epoch in range(10):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        total_loss += loss  # expect: graph-kept-alive
        n_batches += 1
    print(f"epoch {epoch}: average loss so far {total_loss / n_batches:.4f}")
