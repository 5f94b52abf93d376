import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)


def fake_images(n):
    """8x8 pictures with values from 0 to 255: a bright bar in one of four rows."""
    images = torch.randint(0, 120, (n, 64)).float()
    labels = torch.randint(0, 4, (n,))
    for i in range(n):
        start = int(labels[i]) * 16
        images[i, start : start + 8] += 60
    return images, labels


images, labels = fake_images(320)
train_set = TensorDataset(images, labels)  # expect: unscaled-input
loader = DataLoader(train_set, batch_size=32, shuffle=True)

model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for epoch in range(10):
    total = 0.0
    for xb, yb in loader:
        loss = F.cross_entropy(model(xb), yb)  # expect: unscaled-input
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch}: loss {total / len(loader):.4f}")
