import torch
import torch.nn as nn

torch.manual_seed(62)
x = torch.randn(128, 3)
y = (x @ torch.tensor([1.0, -1.0, 2.0])).unsqueeze(1)

model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
learning_rate = 0.01

for epoch in range(60):
    loss = nn.functional.mse_loss(model(x), y)
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for param in model.parameters():
            param += learning_rate * param.grad  # expect: loss-sign
    if epoch % 5 == 0:
        print(f"epoch {epoch}: loss {loss.item():.4f}")
