"""Two networks against each other: detach keeps the generator out of the critic's step."""

import numpy as np
import torch
import torch.nn as nn

rng = np.random.RandomState(3)


def noise(*shape):
    return torch.tensor(rng.randn(*shape), dtype=torch.float32)


def fill(model, seed):
    for number, parameter in enumerate(model.parameters()):
        wave = torch.sin(torch.arange(parameter.numel()) * 1.3 + seed + number)
        parameter.data.copy_(0.6 * wave.view_as(parameter))
    return model


generator = fill(nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 2)), 0)
critic = fill(nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1)), 5)
criterion = nn.BCEWithLogitsLoss()
g_optimizer = torch.optim.Adam(generator.parameters(), lr=0.01, betas=(0.5, 0.999))
d_optimizer = torch.optim.Adam(critic.parameters(), lr=0.01, betas=(0.5, 0.999))
real_label, fake_label = torch.ones(16, 1), torch.zeros(16, 1)

for step in range(25):
    real = noise(16, 2) * 0.3 + torch.tensor([2.0, -1.0])
    fake = generator(noise(16, 2))

    d_optimizer.zero_grad()
    d_loss = criterion(critic(real), real_label) + criterion(critic(fake.detach()), fake_label)
    d_loss.backward()
    if step == 0:
        print("generator untouched:", all(p.grad is None for p in generator.parameters()))
    d_optimizer.step()

    g_optimizer.zero_grad()
    g_loss = criterion(critic(fake), real_label)
    g_loss.backward()
    g_optimizer.step()
    if step % 6 == 0:
        middle = fake.mean(0).tolist()
        print(
            f"{step:2d}: critic {d_loss.item():.4f} generator {g_loss.item():.4f} "
            f"fakes around {middle[0]:.3f}, {middle[1]:.3f}"
        )

real, fake = noise(8, 2), generator(noise(8, 2)).detach()
mix = torch.linspace(0, 1, 8).unsqueeze(1)
between = (mix * real + (1 - mix) * fake).requires_grad_(True)
(slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
penalty = ((slope.norm(2, dim=1) - 1) ** 2).mean()
critic.zero_grad()
penalty.backward()
print(f"gradient penalty {penalty.item():.5f}")
for name in ("0.weight", "2.weight"):
    print(f"  {name}: {critic.get_parameter(name).grad.norm().item():.5f}")
