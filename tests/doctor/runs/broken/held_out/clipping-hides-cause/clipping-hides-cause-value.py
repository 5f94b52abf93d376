import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(47)
x = torch.rand(320, 3)
price = 2.0 * x[:, :1] + 3.0 * x[:, 1:2] * x[:, 2:]
loader = DataLoader(TensorDataset(x, price), batch_size=32, shuffle=True)

model = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

for epoch in range(20):
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 1e-4)  # expect: clipping-hides-cause
        optimizer.step()
        total += loss.item()
    if epoch % 4 == 0:
        print(f"epoch {epoch}: {total / len(loader):.4f}")
print(f"last: {total / len(loader):.4f}")
