import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(16, 32), nn.ReLU())
        self.fc = nn.Linear(32, classes)

    def forward(self, x):
        return self.fc(self.features(x))


torch.manual_seed(8)
x = torch.randn(500, 16)
teacher = torch.randn(16, 10)
coarse = (x @ teacher[:, :2]).argmax(dim=1)
fine = (x @ teacher).argmax(dim=1)

model = Net(classes=2)
optimizer = optim.SGD(model.parameters(), lr=0.1)  # expect: parameter-not-in-optimizer
criterion = nn.CrossEntropyLoss()


def fit(labels, epochs):
    loader = DataLoader(TensorDataset(x, labels), batch_size=50, shuffle=True)
    for epoch in range(epochs):
        total = 0.0
        for xb, yb in loader:
            loss = criterion(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if (epoch + 1) % 5 == 0:
            print(f"epoch {epoch + 1}: {total / len(loader):.4f}")


print("two classes")
fit(coarse, 10)
model.fc = nn.Linear(32, 10)  # expect: parameter-not-in-optimizer
print("ten classes")
fit(fine, 20)
