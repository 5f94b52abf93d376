import torch
import torch.nn as nn
import torch.nn.functional as F


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm1 = nn.GroupNorm(2, channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = nn.GroupNorm(2, channels)
        nn.init.zeros_(self.norm2.weight)

    def forward(self, x):
        out = F.relu(self.norm1(self.conv1(x)))
        return F.relu(x + self.norm2(self.conv2(out)))


torch.manual_seed(17)
n = 160
images = 0.2 * torch.randn(n, 1, 6, 6)
labels = torch.arange(n) % 4
for i, label in enumerate(labels.tolist()):
    r, c = divmod(label, 2)
    images[i, 0, 3 * r : 3 * r + 3, 3 * c : 3 * c + 3] += torch.rand(3, 3) * 1.5

model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), Residual(8), Residual(8), nn.Flatten(), nn.Linear(288, 4)
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, nesterov=True)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=20, gamma=0.3)
for step in range(50):
    pick = torch.randint(0, n, (32,))
    logits = model(images[pick])
    loss = F.cross_entropy(logits, labels[pick])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 10 == 0:
        acc = (logits.argmax(1) == labels[pick]).float().mean()
        print(f"step {step} loss {loss:.4f} acc {acc:.3f}")
