"""Squeeze 16 numbers through 3 and get them back; then a variational one with given noise."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

phase = torch.linspace(0, 6.283, 48).unsqueeze(1)
place = torch.linspace(0, 6.283, 16).unsqueeze(0)
waves = torch.sin(place + phase) * 0.5 + 0.5


def fill(model):
    for number, parameter in enumerate(model.parameters()):
        values = torch.cos(torch.arange(parameter.numel()) * 0.9 + number)
        nn.init.zeros_(parameter)
        parameter.data.add_(values.view(parameter.shape), alpha=0.4)


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(16, 10), nn.Tanh(), nn.Linear(10, 3))
        self.decoder = nn.Sequential(nn.Linear(3, 10), nn.Tanh(), nn.Linear(10, 16), nn.Sigmoid())

    def forward(self, x):
        code = self.encoder(x)
        return self.decoder(code), code


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(16, 10)
        self.mean, self.log_variance = nn.Linear(10, 2), nn.Linear(10, 2)
        self.decoder = nn.Sequential(nn.Linear(2, 10), nn.ReLU(), nn.Linear(10, 16))

    def forward(self, x, noise):
        h = F.softplus(self.hidden(x))
        mean, log_variance = self.mean(h), self.log_variance(h)
        z = mean + noise * torch.exp(0.5 * log_variance)
        return self.decoder(z), mean, log_variance


model = AutoEncoder()
fill(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.02, weight_decay=1e-3)
for step in range(61):
    restored, code = model(waves)
    loss = F.mse_loss(restored, waves)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"autoencoder {step:3d}: {loss.item():.4f}, code {tuple(code.shape)}")

vae = VAE()
fill(vae)
optimizer = torch.optim.RMSprop(vae.parameters(), lr=0.005)
rng = np.random.RandomState(1)
for step in range(61):
    noise = torch.from_numpy(rng.standard_normal((48, 2))).float()
    restored, mean, log_variance = vae(waves, noise)
    rebuilt = F.binary_cross_entropy_with_logits(restored, waves, reduction="sum")
    divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
    loss = (rebuilt + divergence) / len(waves)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"vae {step:3d}: {rebuilt.item() / 48:.3f} + {divergence.item() / 48:.3f}")
