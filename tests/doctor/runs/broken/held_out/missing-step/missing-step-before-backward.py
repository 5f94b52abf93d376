import torch
import torch.nn as nn


class LogisticRegression(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.linear = nn.Linear(n, 1)

    def forward(self, x):
        return self.linear(x).squeeze(1)


def fit(model, x, y, steps=200, lr=0.5):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    criterion = nn.BCEWithLogitsLoss()
    for step in range(steps):
        loss = criterion(model(x), y)
        optimizer.zero_grad()  # expect: missing-step
        optimizer.step()  # expect: missing-step
        loss.backward()  # expect: missing-step
        if step % 40 == 0:
            print(f"step {step:3d} loss {loss.item():.4f}")
    with torch.no_grad():
        accuracy = ((model(x) > 0).float() == y).float().mean()
    print(f"accuracy {accuracy.item():.3f}")


torch.manual_seed(9)
x = torch.randn(300, 4)
y = (x @ torch.tensor([1.0, -1.0, 2.0, 0.5]) > 0.2).float()
fit(LogisticRegression(4), x, y)
