"""A class whose constructor has one underscore too many on each side."""

import torch
from torch import nn


class Regressor(nn.Module):
    def ___init___(self, inputs, hidden):  # expect: crash-shape
        super().__init__()
        self.hidden = nn.Linear(inputs, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))


model = Regressor(4, 16)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
