import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class ClickRate(Dataset):
    def __init__(self, n=240, seed=0):
        rng = np.random.default_rng(seed)
        self.features = rng.normal(size=(n, 5)).astype(np.float32)
        shown = rng.poisson(6, size=n).astype(np.float32)
        clicks = np.minimum(rng.poisson(2 + self.features[:, 0] ** 2), shown + 1)
        with np.errstate(all="ignore"):
            self.rate = (clicks / shown).astype(np.float32)  # expect: non-finite-data

    def __len__(self):
        return len(self.rate)

    def __getitem__(self, i):
        rate = torch.tensor(self.rate[i])  # expect: non-finite-data
        return torch.from_numpy(self.features[i]), rate


def main():
    torch.manual_seed(0)
    loader = DataLoader(ClickRate(), batch_size=30, shuffle=True)
    model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    loss_fn = nn.SmoothL1Loss()
    for epoch in range(15):
        total = 0.0
        for x, rate in loader:  # expect: non-finite-data
            loss = loss_fn(model(x).squeeze(1), rate)  # expect: non-finite-data
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: {total / len(loader):.4f}")


main()
