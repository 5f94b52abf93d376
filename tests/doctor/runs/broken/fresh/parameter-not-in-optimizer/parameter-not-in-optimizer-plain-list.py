import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)


class MLP(nn.Module):
    def __init__(self, in_dim, hidden, depth, out_dim):
        super().__init__()
        self.layers = []  # expect: parameter-not-in-optimizer
        for i in range(depth):
            size = in_dim if i == 0 else hidden
            self.layers.append(nn.Linear(size, hidden))  # expect: parameter-not-in-optimizer
        self.out = nn.Linear(hidden, out_dim)

    def forward(self, x):
        for layer in self.layers:
            x = F.relu(layer(x))  # expect: parameter-not-in-optimizer
        return self.out(x)


x = torch.linspace(-3, 3, 256).unsqueeze(1)
y = torch.sin(2 * x)

model = MLP(1, 24, 3, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)  # expect: parameter-not-in-optimizer
loss_fn = nn.MSELoss()

for step in range(250):
    loss = loss_fn(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(f"step {step:4d}  mse {loss.item():.4f}")
