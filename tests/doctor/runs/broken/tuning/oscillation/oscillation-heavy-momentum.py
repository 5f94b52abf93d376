import torch
import torch.nn as nn

torch.manual_seed(23)
x = torch.randn(200, 4)
y = x @ torch.tensor([[1.0], [-2.0], [0.5], [3.0]]) + 1.0

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.998)  # expect: oscillation
criterion = nn.MSELoss()

losses = []
for step in range(250):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    if step % 10 == 0:
        print(f"step {step:3d} loss {loss.item():.4f}")
print("mean of the last 50:", sum(losses[-50:]) / 50)
