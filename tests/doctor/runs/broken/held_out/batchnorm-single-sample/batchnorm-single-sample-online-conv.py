import torch
import torch.nn as nn
import torch.nn.functional as F


class Brightness(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3)
        self.norm = nn.BatchNorm2d(6)  # expect: batchnorm-single-sample
        self.out = nn.Linear(6, 3)

    def forward(self, x):
        h = F.relu(self.norm(self.conv(x)))  # expect: batchnorm-single-sample
        return self.out(h.mean(dim=(2, 3)))


torch.manual_seed(0)
labels = torch.arange(240) % 3
images = 0.2 * torch.randn(240, 1, 6, 6) + labels.reshape(-1, 1, 1, 1).float() - 1
batch_size = 1  # expect: batchnorm-single-sample

model = Brightness()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(3):
    total, steps = 0.0, 0
    order = torch.randperm(240)
    for start in range(0, 240, batch_size):
        idx = order[start : start + batch_size]
        loss = F.cross_entropy(  # expect: batchnorm-single-sample
            model(images[idx]), labels[idx]
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        steps += 1
    print(f"epoch {epoch}: loss {total / steps:.4f}")
