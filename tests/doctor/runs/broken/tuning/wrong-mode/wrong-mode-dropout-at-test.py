import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop_in = nn.Dropout(0.3)
        self.fc1 = nn.Linear(10, 64)
        self.drop = nn.Dropout(0.6)
        self.fc2 = nn.Linear(64, 4)

    def forward(self, x):
        h = self.drop(F.relu(self.fc1(self.drop_in(x))))
        return self.fc2(h)


def accuracy(model, x, y):  # expect: wrong-mode
    correct = 0
    with torch.no_grad():
        for xb, yb in zip(x.split(50), y.split(50)):
            correct += (model(xb).argmax(dim=1) == yb).sum().item()  # expect: wrong-mode
    return correct / len(y)


torch.manual_seed(3)
x = torch.randn(600, 10)
y = (x @ torch.randn(10, 4)).argmax(dim=1)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(20):
    model.train()
    for idx in torch.randperm(400).split(40):
        loss = F.cross_entropy(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 5 == 4:
        score = accuracy(model, x[400:], y[400:])  # expect: wrong-mode
        print(f"epoch {epoch + 1}: loss {loss.item():.4f} test accuracy {score:.3f}")
