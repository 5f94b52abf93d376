import torch
import torch.nn as nn

torch.manual_seed(6)


class SoftTree(nn.Module):
    def __init__(self, n_in, n_units=24, temperature=0.002):  # expect: saturated-activation
        super().__init__()
        self.split = nn.Linear(n_in, n_units)
        self.split2 = nn.Linear(n_units, n_units)
        self.leaf = nn.Linear(n_units, 1)
        self.temperature = temperature

    def forward(self, x):
        h = torch.sigmoid(self.split(x) / self.temperature)  # expect: saturated-activation
        h = torch.sigmoid(self.split2(h) / self.temperature)  # expect: saturated-activation
        return self.leaf(h)


x = torch.randn(300, 2)
y = torch.sin(2 * x[:, :1]) * torch.cos(2 * x[:, 1:])
model = SoftTree(2)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for i in range(300):
    opt.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    if i % 50 == 0:
        print(i, loss.item())
print("end", loss.item())
