"""The usual classification loop: Dataset, DataLoader, train and test functions, Adam."""

import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset, Subset


class Rings(Dataset):
    """Points on three rings; the class is the ring."""

    def __init__(self, count):
        turn = np.arange(count) * 2.399963
        ring = np.arange(count) % 3
        radius = ring + 1 + 0.25 * np.sin(5.1 * np.arange(count))
        points = np.stack([radius * np.cos(turn), radius * np.sin(turn)], axis=1)
        self.points = torch.tensor(points, dtype=torch.float32)
        self.labels = torch.tensor(ring)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.points[index], self.labels[index]


def fill(model):
    for number, parameter in enumerate(model.parameters()):
        values = np.sin(1.7 * np.arange(parameter.numel()) + number) * parameter.shape[-1] ** -0.5
        parameter.data.copy_(torch.from_numpy(values).reshape(parameter.shape))


data = Rings(300)
train_set, test_set = Subset(data, range(0, 240)), Subset(data, range(240, 300))
train_loader = DataLoader(train_set, batch_size=32, shuffle=False)
test_loader = DataLoader(test_set, batch_size=64)
print(len(data), len(train_set), len(train_loader), len(test_loader))

device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 3))
model.to(device)
fill(model)
print(model)
print("parameters:", sum(p.numel() for p in model.parameters() if p.requires_grad))
criterion = nn.CrossEntropyLoss()
optimizer = optim.Adam(model.parameters(), lr=0.02)


def train():
    model.train()
    running = 0.0
    for batch, (inputs, targets) in enumerate(train_loader):
        inputs, targets = inputs.to(device), targets.to(device)
        loss = criterion(model(inputs), targets)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        running += loss.item() * inputs.size(0)
        if batch % 4 == 0:
            print(f"  batch {batch} loss {loss.item():.4f}")
    return running / len(train_set)


@torch.no_grad()
def test():
    model.eval()
    correct = total = 0
    for inputs, targets in test_loader:
        predicted = model(inputs.to(device)).argmax(dim=1)
        correct += (predicted == targets).sum().item()
        total += targets.size(0)
    return correct / total


for epoch in range(6):
    print(f"epoch {epoch + 1}: mean loss {train():.4f}, test accuracy {test():.3f}")
