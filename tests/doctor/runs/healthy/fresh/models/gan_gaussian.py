import torch
import torch.nn as nn

torch.manual_seed(0)

G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
D = nn.Sequential(nn.Linear(1, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1), nn.Sigmoid())
opt_g = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.5, 0.999))
criterion = nn.BCELoss()
ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)

for step in range(260):
    real = 1.5 + 0.5 * torch.randn(64, 1)
    fake = G(torch.randn(64, 4))

    D.zero_grad()
    d_loss = criterion(D(real), ones) + criterion(D(fake.detach()), zeros)
    d_loss.backward()
    opt_d.step()

    G.zero_grad()
    g_loss = criterion(D(fake), ones)
    g_loss.backward()
    opt_g.step()

    if step % 20 == 0:
        mean, std = fake.mean().item(), fake.std().item()
        print(f"{step} D {d_loss.item():.3f} G {g_loss.item():.3f} mean {mean:.2f} std {std:.2f}")
