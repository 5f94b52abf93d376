import torch
import torch.nn as nn

torch.manual_seed(0)

X = torch.randn(200, 5)
y = X @ torch.tensor([[1.5], [-2.0], [0.7], [0.0], [3.0]]) + 0.1 * torch.randn(200, 1)

model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.99)  # expect: oscillation
criterion = nn.MSELoss()

for step in range(150):
    optimizer.zero_grad()
    loss = criterion(model(X), y)
    loss.backward()
    optimizer.step()  # expect: oscillation
    if step % 5 == 0:
        print(f"step {step:3d}  loss {loss.item():.4f}")
