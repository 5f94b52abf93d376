import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(  # expect: disconnected-parameter
            nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2), nn.Tanh()
        )
        self.head = nn.Linear(2, 2)

    def forward(self, x):
        h = self.encoder(x)
        out = self.head(x)  # expect: disconnected-parameter
        return out, h


def make_data(n):
    x = torch.rand(n, 2) * 2 - 1
    y = (x[:, 0] * x[:, 1] > 0).long()
    return x, y


def train(model, loader, epochs):
    criterion = nn.CrossEntropyLoss()
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(epochs):
        for x, y in loader:
            logits, _ = model(x)
            loss = criterion(logits, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(1)
    x, y = make_data(400)
    model = Net()
    train(model, DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True), epochs=25)
    accuracy = (model(x)[0].argmax(dim=1) == y).float().mean().item()
    print(f"train accuracy {accuracy:.3f}")
