import torch
import torch.nn as nn

torch.manual_seed(42)

latent_dim = 4
G = nn.Sequential(nn.Linear(latent_dim, 32), nn.LeakyReLU(0.2), nn.Linear(32, 2))
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
bce = nn.BCEWithLogitsLoss()
opt_g = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.5, 0.999))

for it in range(200):
    real = torch.randn(64, 2) * 0.5 + torch.tensor([1.5, -1.0])
    z = torch.randn(64, latent_dim)
    fake = G(z)

    # discriminator
    D.zero_grad()
    loss_real = bce(D(real), torch.ones(64, 1))
    loss_real.backward()
    loss_fake = bce(D(fake.detach()), torch.zeros(64, 1))
    loss_fake.backward()
    opt_d.step()

    # generator
    G.zero_grad()
    loss_g = bce(D(fake), torch.ones(64, 1))
    loss_g.backward()
    opt_g.step()

    if it % 40 == 0:
        d = loss_real.item() + loss_fake.item()
        print(f"[{it}/200] D {d:.3f} G {loss_g.item():.3f} mean {fake.mean(0).tolist()}")

print("final mean", G(torch.randn(1000, latent_dim)).mean(0).tolist())
