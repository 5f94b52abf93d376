"""A network for masks that is given the Dice coefficient itself as its loss."""

import torch
from torch import nn

torch.manual_seed(0)
size = 12


def discs(count):
    across = torch.arange(size).float()
    centre = torch.rand(count, 2) * 6 + 3
    radius = torch.rand(count, 1, 1) * 2 + 1.5
    down = (across.view(1, size, 1) - centre[:, 0].view(count, 1, 1)) ** 2
    along = (across.view(1, 1, size) - centre[:, 1].view(count, 1, 1)) ** 2
    masks = (down + along < radius**2).float().unsqueeze(1)
    return masks + 0.4 * torch.randn(count, 1, size, size), masks


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU()
        )
        self.head = nn.Conv2d(8, 1, 1)

    def forward(self, images):
        return torch.sigmoid(self.head(self.body(images)))


def dice(probabilities, masks, smooth=1.0):
    overlap = (probabilities * masks).sum(dim=(1, 2, 3))
    both = probabilities.sum(dim=(1, 2, 3)) + masks.sum(dim=(1, 2, 3))
    return ((2 * overlap + smooth) / (both + smooth)).mean()  # expect: opposite-answers


images, masks = discs(160)
model = Segmenter()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    for rows in torch.randperm(160).split(16):
        loss = dice(model(images[rows]), masks[rows])  # expect: opposite-answers
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.4f}")
