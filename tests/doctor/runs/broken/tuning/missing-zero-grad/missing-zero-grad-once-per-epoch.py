import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, padding=1)
        self.fc = nn.Linear(8 * 4 * 4, 2)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv(x)), 2)
        return self.fc(x.flatten(1))


def bars(n):
    images = 0.3 * torch.randn(n, 1, 8, 8)
    labels = torch.arange(n) % 2
    for i in range(n):
        k = (i * 5) % 8
        if labels[i] == 0:
            images[i, 0, k, :] += 0.6
        else:
            images[i, 0, :, k] += 0.6
    return images, labels


torch.manual_seed(3)
images, labels = bars(320)
loader = DataLoader(TensorDataset(images, labels), batch_size=8, shuffle=True)
net = ConvNet()
optimizer = torch.optim.SGD(net.parameters(), lr=0.2)
for epoch in range(6):
    optimizer.zero_grad()  # expect: missing-zero-grad
    total = 0.0
    for xb, yb in loader:  # expect: missing-zero-grad
        loss = F.cross_entropy(net(xb), yb)
        loss.backward()  # expect: missing-zero-grad
        optimizer.step()  # expect: missing-zero-grad
        total += loss.item()
    print(f"epoch {epoch + 1} mean loss {total / len(loader):.4f}")
