"""One function trains and tests, and only what it trains on was scaled."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
size = torch.tensor([1500.0, 3.0, 40.0, 8.0, 120.0])
features = (1 + 0.4 * torch.randn(600, 5)) * size
price = ((features / size - 1) @ torch.tensor([[2.0], [1.0], [-1.0], [0.5], [-0.5]])).tanh()
train_x, test_x = features[:480], features[480:]  # expect: preprocessing-mismatch
mean, deviation = train_x.mean(0), train_x.std(0)
train_set = TensorDataset((train_x - mean) / deviation, price[:480])
test_set = TensorDataset(test_x, price[480:])  # expect: preprocessing-mismatch
train_loader = DataLoader(train_set, batch_size=40, shuffle=True)
test_loader = DataLoader(test_set, batch_size=60)  # expect: preprocessing-mismatch

model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)


def run(loader, train):
    model.train(train)
    total = 0.0
    with torch.set_grad_enabled(train):
        for batch, target in loader:
            loss = criterion(model(batch), target)  # expect: preprocessing-mismatch
            if train:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total += loss.item()
    return total / len(loader)


for epoch in range(10):
    train_loss = run(train_loader, True)
    test_loss = run(test_loader, False)
    print(f"{epoch:2d} train {train_loss:.4f} test {test_loss:.4f}")
