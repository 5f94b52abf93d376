import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
labels = torch.randint(0, 5, (1000,))
inputs = torch.randn(5, 20)[labels] + 0.6 * torch.randn(1000, 20)
train_dataloader = DataLoader(TensorDataset(inputs[:800], labels[:800]), batch_size=16)
test_dataloader = DataLoader(TensorDataset(inputs[800:], labels[800:]), batch_size=64)


class NeuralNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear_relu_stack = nn.Sequential(
            nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 5)
        )

    def forward(self, x):
        return self.linear_relu_stack(x)


model = NeuralNetwork()
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=5e-2)


def train(dataloader):
    model.train()
    for batch, (X, y) in enumerate(dataloader):
        loss = loss_fn(model(X), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if batch % 25 == 0:
            print(f"loss: {loss.item():>7f}  [{(batch + 1) * len(X):>5d}/800]")


def test(dataloader):
    model.eval()
    test_loss, correct = 0.0, 0.0
    with torch.no_grad():
        for X, y in dataloader:
            pred = model(X)
            test_loss += loss_fn(pred, y).item()
            correct += (pred.argmax(1) == y).float().sum().item()
    print(f"Accuracy: {correct / 2:>0.1f}%, Avg loss: {test_loss / len(dataloader):>8f}")


for t in range(4):
    print(f"Epoch {t + 1}")
    train(train_dataloader)
    test(test_dataloader)
print("Done!")
