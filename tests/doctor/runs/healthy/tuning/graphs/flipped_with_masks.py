import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
random.seed(0)


class Cells(Dataset):
    def __init__(self, count):
        self.masks = torch.zeros(count, 1, 12, 12)
        for each in self.masks:
            top, left = random.randint(0, 8), random.randint(0, 8)
            each[:, top : top + 4, left : left + 4] = 1
        self.images = 0.1 * torch.randn(count, 1, 12, 12) + self.masks

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image, mask = self.images[i], self.masks[i]
        if random.random() < 0.5:
            image, mask = torch.flip(image, [2]), torch.flip(mask, [2])
        return image, mask


loader = DataLoader(Cells(120), batch_size=24, shuffle=True)
net = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
criterion = nn.BCEWithLogitsLoss()
for epoch in range(6):
    for images, masks in loader:
        loss = criterion(net(images), masks)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
