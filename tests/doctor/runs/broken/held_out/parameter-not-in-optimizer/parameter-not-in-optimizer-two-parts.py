import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Dropout(0.5), nn.Linear(16, 3))

    def forward(self, x):
        return torch.tanh(self.net(x))


def spiral(n):
    label = torch.arange(n) % 2
    t = torch.rand(n) * 4 + 0.5
    angle = t + label * 3.1416
    points = torch.stack([t * torch.cos(angle), t * torch.sin(angle)], dim=1) / 3
    return points + 0.05 * torch.randn(n, 2), label


torch.manual_seed(13)
x, y = spiral(400)
x_test, y_test = spiral(200)
encoder, head = Encoder(), nn.Linear(3, 2)
optimizer = torch.optim.Adam(head.parameters(), lr=0.02)  # expect: parameter-not-in-optimizer
criterion = nn.CrossEntropyLoss()

for epoch in range(100):
    encoder.train()
    loss = criterion(head(encoder(x)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 20 == 19:
        with torch.no_grad():
            hits = head(encoder(x_test)).argmax(dim=1) == y_test  # also: wrong-mode
        print(f"epoch {epoch + 1}: {loss.item():.4f} test {hits.float().mean().item():.3f}")
