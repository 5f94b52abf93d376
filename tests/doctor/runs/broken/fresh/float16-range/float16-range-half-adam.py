import torch
import torch.nn as nn

torch.manual_seed(0)

x = torch.randn(128, 16).half()
y = x[:, :4].sum(dim=1, keepdim=True)

model = nn.Sequential(
    nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1)
).half()  # expect: float16-range
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)  # expect: float16-range
criterion = nn.MSELoss()

for step in range(50):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()  # expect: float16-range
    if step % 10 == 0:
        print(step, loss.item())
