import torch
import torch.nn as nn

torch.manual_seed(30)
grid = torch.arange(8).float()


def clean_images(n):
    cx, cy = torch.rand(n, 1, 1) * 5 + 1, torch.rand(n, 1, 1) * 5 + 1
    d = (grid.view(1, 8, 1) - cy) ** 2 + (grid.view(1, 1, 8) - cx) ** 2
    return torch.exp(-d / 4).unsqueeze(1)


encoder = nn.Sequential(
    nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(8, 12, 3, stride=2, padding=1)
)
decoder = nn.Sequential(
    nn.ReLU(),
    nn.ConvTranspose2d(12, 8, 4, stride=2, padding=1),
    nn.ReLU(),
    nn.ConvTranspose2d(8, 1, 4, stride=2, padding=1),
)
params = list(encoder.parameters()) + list(decoder.parameters())
optimizer = torch.optim.RMSprop(params, lr=2e-3)
loss_fn = nn.SmoothL1Loss(beta=0.1)

for it in range(1, 151):
    clean = clean_images(32)
    noisy = clean + 0.2 * torch.randn_like(clean)
    loss = loss_fn(decoder(encoder(noisy)), clean)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 25 == 0:
        print(f"iteration {it}, loss {loss.item():.5f}")
