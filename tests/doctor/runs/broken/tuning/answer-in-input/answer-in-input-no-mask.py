"""A small language model: tokens attend to each other, the later ones included."""

import math

import torch
from torch import nn

torch.manual_seed(0)

LETTERS, LENGTH, WIDTH = 16, 12, 24


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)

    def forward(self, x):
        scores = self.query(x) @ self.key(x).transpose(1, 2) / math.sqrt(x.shape[-1])
        weights = torch.softmax(scores, dim=-1)  # expect: answer-in-input
        return weights @ self.value(x)


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters = nn.Embedding(LETTERS, WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        self.attention = Attention(WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, LETTERS)

    def forward(self, tokens):
        x = self.letters(tokens) + self.places(torch.arange(LENGTH))
        return self.head(self.norm(x + self.attention(x)))


text = torch.randint(0, LETTERS, (240, LENGTH + 1))
model = LanguageModel()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    for start in range(0, 240, 24):
        batch = text[start : start + 24]
        logits = model(batch[:, :-1])
        loss = nn.functional.cross_entropy(logits.reshape(-1, LETTERS), batch[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
