"""The next value of a series, by a recurrent layer that reads the series from both ends."""

import torch
from torch import nn

torch.manual_seed(1)

time = torch.linspace(0, 80, 900)
series = torch.sin(time) + 0.4 * torch.randn(900)
windows = torch.stack([series[start : start + 21] for start in range(0, 870, 3)]).unsqueeze(-1)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.reader = nn.GRU(  # expect: answer-in-input
            1,
            16,
            batch_first=True,
            bidirectional=True,  # expect: answer-in-input
        )
        self.head = nn.Linear(32, 1)

    def forward(self, window):
        states, _ = self.reader(window)  # expect: answer-in-input
        return self.head(states)


model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    for rows in torch.randperm(len(windows)).split(29):
        past, future = windows[rows, :-1], windows[rows, 1:]
        loss = nn.functional.mse_loss(model(past), future)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
