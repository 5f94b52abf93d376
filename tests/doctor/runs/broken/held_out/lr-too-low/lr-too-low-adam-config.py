import torch
import torch.nn as nn
import torch.nn.functional as F

config = {
    "hidden": 32,
    "lr": 3e-8,  # expect: lr-too-low
    "steps": 200,
    "batch_size": 64,
}


class SpiralNet(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, 3),
        )

    def forward(self, x):
        return self.layers(x)


def blobs(n):
    label = torch.randint(0, 3, (n,))
    angle = label.float() * 2.094
    center = torch.stack([torch.cos(angle), torch.sin(angle)], dim=1)
    return 2 * center + 0.5 * torch.randn(n, 2), label


def train(model):
    optimizer = torch.optim.Adam(model.parameters(), lr=config["lr"])  # expect: lr-too-low
    for step in range(config["steps"]):
        x, label = blobs(config["batch_size"])
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), label)
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"[{step}] loss={loss.item():.4f}")


torch.manual_seed(5)
net = SpiralNet(config["hidden"])
train(net)
x_test, y_test = blobs(300)
print("test accuracy", (net(x_test).argmax(1) == y_test).float().mean().item())
