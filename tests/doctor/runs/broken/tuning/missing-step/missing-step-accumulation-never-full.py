import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
x = torch.randn(256, 8)
y = torch.tanh(x[:, :2].sum(dim=1, keepdim=True)) + 0.5 * x[:, 2:3]
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)

accumulate = 16
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
criterion = nn.MSELoss()

for epoch in range(25):
    optimizer.zero_grad()
    running = 0.0
    for i, (xb, yb) in enumerate(loader):
        loss = criterion(model(xb), yb)
        (loss / accumulate).backward()  # expect: missing-step
        running += loss.item()
        if (i + 1) % accumulate == 0:  # expect: missing-step
            optimizer.step()  # expect: missing-step
            optimizer.zero_grad()
    if epoch % 5 == 0:
        print(f"epoch {epoch}: {running / len(loader):.4f}")
