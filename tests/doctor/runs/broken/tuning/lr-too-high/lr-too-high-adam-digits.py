import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

LEARNING_RATE = 1.0  # expect: lr-too-high
EPOCHS = 8


def make_data(n=512):
    generator = torch.Generator().manual_seed(1)
    centers = torch.randn(6, 16, generator=generator) * 1.2
    labels = torch.arange(n) % 6
    return centers[labels] + torch.randn(n, 16, generator=generator), labels


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(16, 64)
        self.fc2 = nn.Linear(64, 64)
        self.out = nn.Linear(64, 6)

    def forward(self, x):
        x = torch.tanh(self.fc1(x))
        x = torch.tanh(self.fc2(x))
        return self.out(x)


def main():
    torch.manual_seed(1)
    data, labels = make_data()
    loader = DataLoader(TensorDataset(data, labels), batch_size=32, shuffle=True)
    net = Net()
    opt = torch.optim.Adam(net.parameters(), lr=LEARNING_RATE)  # expect: lr-too-high
    for epoch in range(EPOCHS):
        total = 0.0
        for xb, yb in loader:
            loss = F.cross_entropy(net(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        accuracy = (net(data).argmax(1) == labels).float().mean().item()
        print(f"epoch {epoch} loss {total / len(loader):.3f} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
