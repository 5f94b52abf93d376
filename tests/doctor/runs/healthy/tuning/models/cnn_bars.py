import torch
import torch.nn as nn
import torch.nn.functional as F


def make_images(n):
    images = 0.1 * torch.randn(n, 1, 8, 8)
    labels = torch.randint(0, 2, (n,))
    for i in range(n):
        where = int(torch.randint(0, 8, (1,)))
        if labels[i] == 0:
            images[i, 0, where, :] += 1.0
        else:
            images[i, 0, :, where] += 1.0
    return images, labels


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(16 * 2 * 2, 32)
        self.fc2 = nn.Linear(32, 2)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = torch.flatten(x, 1)
        return self.fc2(F.relu(self.fc1(x)))


torch.manual_seed(7)
train_x, train_y = make_images(256)
test_x, test_y = make_images(100)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

for epoch in range(8):
    order = torch.randperm(256)
    for start in range(0, 256, 32):
        batch = order[start : start + 32]
        optimizer.zero_grad()
        loss = F.cross_entropy(net(train_x[batch]), train_y[batch])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        correct = (net(test_x).argmax(dim=1) == test_y).sum().item()
    print(f"epoch {epoch}: loss {loss.item():.3f}, test accuracy {correct}%")
