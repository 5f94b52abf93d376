import torch
import torch.nn as nn


class BinarizeSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x >= 0, torch.ones_like(x), -torch.ones_like(x))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x.abs() <= 1).to(grad_output.dtype)


class Coder(nn.Module):
    def __init__(self, n_in, bits):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(n_in, 32), nn.ReLU(), nn.Linear(32, bits))
        self.dec = nn.Sequential(nn.Linear(bits, 32), nn.ReLU(), nn.Linear(32, n_in))

    def forward(self, x):
        return self.dec(BinarizeSTE.apply(self.enc(x)))


torch.manual_seed(0)
prototypes = torch.randn(8, 10)
model = Coder(10, 6)
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(200):
    x = prototypes[torch.randint(0, 8, (64,))] + 0.05 * torch.randn(64, 10)
    loss = ((model(x) - x) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 25 == 0:
        print(f"step {step}: mse {loss.item():.4f}")
