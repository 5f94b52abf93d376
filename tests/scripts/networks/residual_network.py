"""Skip connections, adaptive pooling, a mixture of containers, and a new head on frozen layers."""

import torch
from torch import nn


class ResidualBlock(nn.Module):
    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, padding=1)
        self.layers = nn.Sequential(ResidualBlock(4, 4), ResidualBlock(4, 8, stride=2))
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(8, classes)

    def forward(self, x):
        return self.fc(torch.flatten(self.pool(self.layers(self.stem(x))), 1))


def fill(module):
    if isinstance(module, (nn.Conv2d, nn.Linear)):
        fan = module.weight[0].numel()
        wave = torch.sin(torch.arange(module.weight.numel()) * 0.9)
        module.weight.data = wave.view_as(module.weight) * (2 / fan) ** 0.5
        if module.bias is not None:
            nn.init.constant_(module.bias, 0)


model = ResNet()
model.apply(fill)
print(model)
print(f"{sum(p.numel() for p in model.parameters()):,} parameters")
images = torch.cos(torch.arange(12 * 3 * 64) * 0.13).view(12, 3, 8, 8)
images = images * torch.linspace(0.5, 2, 12).view(12, 1, 1, 1)
labels = torch.arange(12) // 4
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
for epoch in range(8):
    optimizer.zero_grad()
    output = model(images)
    loss = criterion(output, labels)
    loss.backward()
    optimizer.step()
    if epoch % 2 == 0:
        _, predicted = torch.max(output.data, 1)
        print(f"epoch {epoch}: loss {loss.item():.4f}, right {(predicted == labels).sum().item()}")

for parameter in model.parameters():
    parameter.requires_grad = False
model.fc = nn.Linear(model.fc.in_features, 2)
fill(model.fc)
optimizer = torch.optim.Adam(model.fc.parameters(), lr=0.05)
model.eval()
for _ in range(5):
    loss = criterion(model(images), labels % 2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"new head: {loss.item():.4f}")
print(sum(p.requires_grad for p in model.parameters()), model.stem.weight.grad is None)
