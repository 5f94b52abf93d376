import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

X = torch.randn(400, 10)
true_w = torch.randn(10, 1)
y = X @ true_w + 0.05 * torch.randn(400, 1)
train_loader = DataLoader(TensorDataset(X, y), batch_size=40, shuffle=True)

model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
loss_fn = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)  # expect: lr-too-low

for epoch in range(15):
    running = 0.0
    for inputs, targets in train_loader:
        optimizer.zero_grad()
        loss = loss_fn(model(inputs), targets)
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"Epoch {epoch + 1}: {running / len(train_loader):.5f}")
