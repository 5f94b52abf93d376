import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(0)
    x = torch.randn(512, 8)
    y = x @ torch.randn(8, 1) + 0.05 * torch.randn(512, 1)
    loader = DataLoader(TensorDataset(x, y), batch_size=128, shuffle=True)

    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
    criterion = nn.MSELoss(reduction="sum")  # expect: sum-reduction
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)

    for epoch in range(15):
        total = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)  # expect: sum-reduction
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
