import torch
import torch.nn as nn

# u'' + u = 0 with u(0) = 0 and u'(0) = 1, so u is the sine
torch.manual_seed(3)
u = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(u.parameters(), lr=5e-3)
zero = torch.zeros(1, 1, requires_grad=True)


def derivative(y, x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]


for step in range(250):
    t = (3 * torch.rand(64, 1)).requires_grad_()
    ut = u(t)
    residual = derivative(derivative(ut, t), t) + ut
    u0 = u(zero)
    start = u0.pow(2).sum() + (derivative(u0, zero) - 1).pow(2).sum()
    loss = residual.pow(2).mean() + 5 * start
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(step, loss.item())

t = torch.linspace(0, 3, 7).view(-1, 1)
print("largest error", (u(t) - torch.sin(t)).abs().max().item())
