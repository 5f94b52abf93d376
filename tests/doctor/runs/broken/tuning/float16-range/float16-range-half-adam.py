import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(256, 8)
y = torch.tanh(x[:, :1] - x[:, 1:2]) + 0.1 * x[:, 2:3]

model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
model = model.half()  # expect: float16-range
x, y = x.half(), y.half()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)  # expect: float16-range

for step in range(120):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # expect: float16-range
    if step % 20 == 0:
        print(f"step {step}: loss {loss.item():.4f}")
