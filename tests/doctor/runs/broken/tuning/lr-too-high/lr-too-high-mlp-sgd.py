import torch
import torch.nn as nn

x = torch.randn(256, 8)
y = (x[:, :2].sum(1) * x[:, 3]).unsqueeze(1)

model = nn.Sequential(
    nn.Linear(8, 32),
    nn.ReLU(),
    nn.Linear(32, 32),
    nn.ReLU(),
    nn.Linear(32, 1),
)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=5.0)  # expect: lr-too-high

for step in range(120):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step:3d}  loss {loss.item():.4f}")
print(f"final loss {loss.item():.4f}")
