import torch
from torch import nn, optim

torch.manual_seed(9)
LAMBDA = 1.0


def sample_real(n):
    angle = torch.rand(n) * 6.2832
    return torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(n, 2)


def gradient_penalty(critic, real, fake):
    eps = torch.rand(real.size(0), 1)
    mixed = (eps * real + (1 - eps) * fake).requires_grad_(True)
    score = critic(mixed)
    grads = torch.autograd.grad(
        outputs=score, inputs=mixed, grad_outputs=torch.ones_like(score), create_graph=True
    )[0]
    return ((grads.norm(2, dim=1) - 1) ** 2).mean()


critic = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
generator = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
c_opt = optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.9))
g_opt = optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.9))

for it in range(160):
    for _ in range(3):
        real = sample_real(64)
        fake = generator(torch.randn(64, 2)).detach()
        penalty = gradient_penalty(critic, real, fake)
        c_loss = critic(fake).mean() - critic(real).mean() + LAMBDA * penalty
        c_opt.zero_grad()
        c_loss.backward()
        c_opt.step()
    g_loss = -critic(generator(torch.randn(64, 2))).mean()
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()
    if it % 32 == 0:
        print(f"iter {it} critic {c_loss.item():.4f} generator {g_loss.item():.4f}")

radius = generator(torch.randn(500, 2)).norm(dim=1)
print("mean radius", radius.mean().item())
