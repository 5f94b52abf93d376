import random

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
random.seed(0)


def sample():
    image = 0.1 * torch.rand(1, 20, 20)
    x, y = random.randint(5, 14), random.randint(5, 14)
    image[:, y - 1 : y + 2, x - 1 : x + 2] += 1
    return image, torch.tensor([x, y], dtype=torch.float32)


samples = [sample() for _ in range(200)]


def batch_of(chosen):
    images, points = [], []
    for image, point in chosen:
        dx, dy = random.randint(0, 4), random.randint(0, 4)
        image = image[:, dy : dy + 16, dx : dx + 16]  # expect: one-sided-augmentation
        images.append(image)
        points.append(point / 16)
    return torch.stack(images), torch.stack(points)


model = nn.Sequential(
    nn.Conv2d(1, 8, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(392, 32), nn.ReLU()
)
head = nn.Linear(32, 2)
both = nn.Sequential(model, head)
optimizer = torch.optim.Adam(both.parameters(), lr=3e-3)
for _ in range(150):
    images, points = batch_of(random.sample(samples, 20))
    loss = F.mse_loss(both(images), points)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
