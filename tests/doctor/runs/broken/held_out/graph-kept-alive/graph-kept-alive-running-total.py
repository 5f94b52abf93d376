import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(10, 50)
        self.fc2 = nn.Linear(50, 1)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


def main():
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    w = torch.randn(10, 1)
    total_loss = 0
    for step in range(300):
        x = torch.randn(64, 10)
        y = torch.sigmoid(x @ w)
        loss = F.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total_loss += loss  # expect: graph-kept-alive
        if (step + 1) % 50 == 0:
            print(f"[{step + 1}] average loss so far: {total_loss / (step + 1):.4f}")


main()
