import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Stripes(Dataset):
    def __init__(self, n=240):
        g = torch.Generator().manual_seed(9)
        self.labels = torch.arange(n) % 2
        self.images = 0.5 * torch.rand(n, 6, 6, generator=g)
        self.images[self.labels == 0, ::2] += 0.4
        self.images[self.labels == 1, :, ::2] += 0.4

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        image = self.images[i].to(torch.uint8)  # expect: constant-output
        return image.flatten().float(), self.labels[i]


torch.manual_seed(9)
loader = DataLoader(Stripes(), batch_size=40, shuffle=True)
model = nn.Sequential(nn.Linear(36, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(10):
    correct = 0
    for images, labels in loader:
        logits = model(images)
        loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        correct += (logits.argmax(1) == labels).sum().item()
    print(f"epoch {epoch} loss {loss.item():.4f} accuracy {correct / 240:.3f}")
