import torch
import torch.nn as nn

torch.manual_seed(41)
x = torch.randn(300, 3)
y = x @ torch.tensor([[1.5, -1.0, 0.5], [-2.0, 1.0, 0.5], [0.0, 1.0, -1.0]]) + 0.8


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 32), nn.Linear(32, 32), nn.Linear(32, 3)])

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))  # expect: wrong-output-activation
        return x  # expect: wrong-output-activation


model = Regressor()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(150):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 25 == 0:
        print(f"epoch {epoch} mse {loss.item():.4f}")
print(f"final mse {loss.item():.4f} target variance {y.var().item():.4f}")
