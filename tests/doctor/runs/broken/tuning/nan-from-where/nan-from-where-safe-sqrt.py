import torch
import torch.nn as nn
import torch.nn.functional as F


class SqrtUnit(nn.Module):
    def forward(self, x):
        return torch.where(x > 0, torch.sqrt(x), 0.1 * x)  # expect: nan-from-where


torch.manual_seed(0)
x = torch.rand(200, 3) * 2
y = torch.sqrt(x.sum(dim=1, keepdim=True))
model = nn.Sequential(nn.Linear(3, 24), SqrtUnit(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(100):
    prediction = model(x)
    loss = F.mse_loss(prediction, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print("step", step, "loss", loss.item())
