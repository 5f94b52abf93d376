import torch
import torch.nn as nn


class SoftSign(nn.Module):
    def __init__(self, slope=100.0):  # expect: saturated-activation
        super().__init__()
        self.slope = slope

    def forward(self, x):
        return torch.tanh(self.slope * x)  # expect: saturated-activation


torch.manual_seed(0)
x = torch.rand(256, 4) * 2 - 1
y = torch.sin(3 * x[:, :1]) + x[:, 1:2] * x[:, 2:3]

model = nn.Sequential(
    nn.Linear(4, 16),
    SoftSign(),  # expect: saturated-activation
    nn.Linear(16, 16),
    SoftSign(),  # expect: saturated-activation
    nn.Linear(16, 16),
    SoftSign(),  # expect: saturated-activation
    nn.Linear(16, 1),
)
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)

for epoch in range(150):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 25 == 0:
        print(f"epoch {epoch} loss {loss.item():.4f}")
