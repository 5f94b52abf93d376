"""A convolutional network reads the digits of a seven-segment display, with noise on it."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset

SEGMENTS = ["abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcdfg"]
PLACES = {  # rows and columns of an 11 by 8 picture
    "a": (slice(1, 2), slice(2, 6)),
    "b": (slice(2, 5), slice(6, 7)),
    "c": (slice(6, 9), slice(6, 7)),
    "d": (slice(9, 10), slice(2, 6)),
    "e": (slice(6, 9), slice(1, 2)),
    "f": (slice(2, 5), slice(1, 2)),
    "g": (slice(5, 6), slice(2, 6)),
}


def picture(digit, number):
    pixels = 0.3 * np.sin(np.arange(88) * (1.0 + 0.37 * number)).reshape(11, 8)
    for segment in SEGMENTS[digit]:
        pixels[PLACES[segment]] += 1.0
    return pixels


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, kernel_size=3, padding=1)
        self.conv2 = nn.Conv2d(8, 12, kernel_size=3, stride=1)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(12 * 3 * 2, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = F.relu(self.conv2(x))
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=1)


def fill(model):
    for number, parameter in enumerate(model.parameters()):
        fan_in = parameter[0].numel() if parameter.dim() > 1 else 100
        wave = torch.sin(torch.arange(parameter.numel()) * 1.3 + number)
        parameter.data = (wave * (2.0 / fan_in) ** 0.5).view_as(parameter)


labels = np.arange(200) % 10
images = np.stack([picture(digit, number) for number, digit in enumerate(labels)])
dataset = TensorDataset(
    torch.tensor(images, dtype=torch.float32).unsqueeze(1), torch.tensor(labels).long()
)
train_data = torch.utils.data.Subset(dataset, range(150))
test_data = torch.utils.data.Subset(dataset, range(150, 200))

model = Net()
fill(model)
print(model)
for name, parameter in model.named_parameters():
    print(f"{name:14} {tuple(parameter.shape)}")
optimizer = optim.Adam(model.parameters(), lr=0.01)
for epoch in range(1, 4):
    model.train()
    for data, target in DataLoader(train_data, batch_size=25):
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
    model.eval()
    test_loss, correct = 0.0, 0
    with torch.no_grad():
        for data, target in DataLoader(test_data, batch_size=50):
            output = model(data)
            test_loss += F.nll_loss(output, target, reduction="sum").item()
            guess = output.argmax(dim=1, keepdim=True)
            correct += guess.eq(target.view_as(guess)).sum().item()
    print(f"epoch {epoch}: train {loss.item():.3f}, test {test_loss / 50:.3f}, {correct}/50 right")
