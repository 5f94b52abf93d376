"""An RNN keeps its state for a batch of 16, and the last batch of the epoch has 4."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
BATCH = 16


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(2, 8, batch_first=True)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        start = torch.zeros(1, BATCH, 8)  # expect: crash-shape
        hidden, _ = self.rnn(x, start)
        return self.out(hidden[:, -1])


model = Counter()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
data = TensorDataset(torch.randn(100, 6, 2), torch.randn(100, 1))
for x, y in DataLoader(data, batch_size=BATCH):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
