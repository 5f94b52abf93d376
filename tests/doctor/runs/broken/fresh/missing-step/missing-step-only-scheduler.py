import torch
from torch import nn
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset


def train(model, loader, optimizer, scheduler, loss_fn):
    model.train()
    total = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()  # expect: missing-step
        total += loss.item()
    scheduler.step()  # expect: missing-step
    return total / len(loader)


def main():
    torch.manual_seed(0)
    x = torch.rand(256, 5)
    y = (x**2).sum(dim=1, keepdim=True)
    loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
    model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)  # expect: missing-step
    scheduler = StepLR(optimizer, step_size=10, gamma=0.5)
    for epoch in range(15):
        loss = train(model, loader, optimizer, scheduler, nn.MSELoss())  # expect: missing-step
        print(f"epoch {epoch} train loss {loss:.4f}")


if __name__ == "__main__":
    main()
