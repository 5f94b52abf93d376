import torch
import torch.nn as nn
import torch.nn.functional as F


class SwishFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        s = torch.sigmoid(x)
        ctx.save_for_backward(x, s)
        return x * s

    @staticmethod
    def backward(ctx, grad_output):  # expect: wrong-backward
        x, s = ctx.saved_tensors
        return grad_output * (s - x * s * (1 + s))  # expect: wrong-backward


class Swish(nn.Module):
    def forward(self, x):
        return SwishFunction.apply(x)  # expect: wrong-backward


torch.manual_seed(0)
x = torch.rand(300, 2) * 4 - 2
y = torch.sin(3 * x[:, :1]) + torch.cos(2 * x[:, 1:])
model = nn.Sequential(
    nn.Linear(2, 32),
    Swish(),
    nn.Linear(32, 32),
    Swish(),
    nn.Linear(32, 32),
    Swish(),
    nn.Linear(32, 1),
)
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
for step in range(250):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        print(f"step {step + 1}: {loss.item():.4f}")
