import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(0)
x = torch.rand(200, 3) * 2 - 1
y = torch.sin(3 * x[:, :1]) + x[:, 1:2] * x[:, 2:]

model = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
criterion = nn.MSELoss()
optimizer = optim.SGD(model.parameters(), lr=0.1)

for epoch in range(200):  # expect: missing-zero-grad
    output = model(x)
    loss = criterion(output, y)
    loss.backward()  # expect: missing-zero-grad
    optimizer.step()  # expect: missing-zero-grad
    if epoch % 20 == 0:
        print(f"Epoch {epoch}, loss {loss.item():.4f}")
