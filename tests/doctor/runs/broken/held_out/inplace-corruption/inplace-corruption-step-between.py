import torch
from torch import nn, optim

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g = optim.Adam(generator.parameters(), lr=1e-3)
opt_c = optim.Adam(critic.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()

for step in range(100):
    real = torch.randn(32, 2) * 0.3 + torch.tensor([1.0, -1.0])
    fake = generator(torch.randn(32, 4))
    score_real = critic(real)
    score_fake = critic(fake)
    loss_c = bce(score_real, torch.ones(32, 1)) + bce(score_fake, torch.zeros(32, 1))
    loss_g = bce(score_fake, torch.ones(32, 1))

    opt_c.zero_grad()
    loss_c.backward(retain_graph=True)
    opt_c.step()  # expect: inplace-corruption

    opt_g.zero_grad()
    loss_g.backward()  # expect: inplace-corruption
    opt_g.step()
    if step % 20 == 0:
        print(f"{step}: critic {loss_c.item():.3f} generator {loss_g.item():.3f}")
