import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

L1_LAMBDA = 0.3  # expect: over-regularized


def l1_penalty(model):
    return sum(p.abs().sum() for p in model.parameters())


def train(model, loader, epochs):
    mse = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(epochs):
        fit = 0.0
        for xb, yb in loader:
            data_loss = mse(model(xb), yb)
            loss = data_loss + L1_LAMBDA * l1_penalty(model)  # expect: over-regularized
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            fit += data_loss.item()
        if epoch % 5 == 0:
            print(f"epoch {epoch} fit {fit / len(loader):.4f}")
    print(f"final fit {fit / len(loader):.4f}")


torch.manual_seed(41)
x = torch.randn(256, 6)
y = torch.tanh(x[:, :1] - x[:, 1:2])
train(
    nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1)),
    DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True),
    epochs=25,
)
