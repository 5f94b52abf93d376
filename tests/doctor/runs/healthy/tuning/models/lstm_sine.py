import numpy as np
import torch
from torch import nn

torch.manual_seed(1)
wave = np.sin(np.linspace(0, 30 * np.pi, 1000)).astype(np.float32)
window = 20
X = np.stack([wave[i : i + window] for i in range(0, 900, 5)])
y = np.stack([wave[i + window] for i in range(0, 900, 5)])
X = torch.from_numpy(X).unsqueeze(-1)
y = torch.from_numpy(y).unsqueeze(-1)


class Forecaster(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.head(out[:, -1])


model = Forecaster()
loss_fn = nn.MSELoss()
opt = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(12):
    permutation = torch.randperm(len(X))
    total = 0.0
    for i in range(0, len(X), 36):
        idx = permutation[i : i + 36]
        loss = loss_fn(model(X[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total += loss.item()
    print("epoch", epoch, "mse", total / 5)
