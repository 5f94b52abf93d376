import torch
import torch.nn as nn
import torch.optim as optim


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, z):
        return self.net(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(1, 24), nn.LeakyReLU(0.1), nn.Linear(24, 1), nn.Sigmoid()
        )

    def forward(self, x):
        return self.net(x)


torch.manual_seed(13)
G, D = Generator(), Discriminator()
criterion = nn.BCELoss()
optimizerG = optim.Adam(G.parameters(), lr=0.003, betas=(0.5, 0.9))
optimizerD = optim.Adam(D.parameters(), lr=0.003, betas=(0.5, 0.9))
means = []

for epoch in range(250):
    for p in D.parameters():
        p.requires_grad_(True)
    real = 2.0 + 0.4 * torch.randn(64, 1)
    with torch.no_grad():
        fake = G(torch.randn(64, 1))
    errD = criterion(D(real), torch.full((64, 1), 0.9)) + criterion(D(fake), torch.zeros(64, 1))
    optimizerD.zero_grad()
    errD.backward()
    optimizerD.step()

    for p in D.parameters():
        p.requires_grad_(False)
    fake = G(torch.randn(64, 1))
    errG = criterion(D(fake), torch.ones(64, 1))
    optimizerG.zero_grad()
    errG.backward()
    optimizerG.step()
    means.append(fake.mean().item())
    if epoch % 50 == 0:
        print(epoch, "Loss_D", errD.item(), "Loss_G", errG.item(), "mean", means[-1])
print("mean of the last 50:", sum(means[-50:]) / 50)
