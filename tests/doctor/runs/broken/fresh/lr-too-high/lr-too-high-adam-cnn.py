import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)

labels = torch.randint(0, 4, (256,))
images = 0.3 * torch.randn(256, 1, 8, 8)
for i, c in enumerate(labels.tolist()):
    images[i, 0, 4 * (c // 2) : 4 * (c // 2) + 4, 4 * (c % 2) : 4 * (c % 2) + 4] += 1.0
loader = DataLoader(TensorDataset(images, labels), batch_size=32, shuffle=True)


class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.fc1 = nn.Linear(16 * 2 * 2, 32)
        self.fc2 = nn.Linear(32, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.fc1(x.flatten(1)))
        return self.fc2(x)


model = CNN()
lr = 0.5  # expect: lr-too-high
optimizer = torch.optim.Adam(model.parameters(), lr=lr)  # expect: lr-too-high

for epoch in range(8):
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()  # expect: lr-too-high
        total += loss.item()
    print(f"epoch {epoch}: {total / len(loader):.3f}")
