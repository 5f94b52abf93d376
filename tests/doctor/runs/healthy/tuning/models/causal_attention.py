"""A language model that looks back only, beside a tagger that may look both ways."""

import math

import torch
from torch import nn

torch.manual_seed(0)

LETTERS, LENGTH, WIDTH = 16, 12, 24


class Attention(nn.Module):
    def __init__(self, width, mask):
        super().__init__()
        self.mixed = nn.Linear(width, 3 * width)
        self.register_buffer("mask", mask)

    def forward(self, x):
        query, key, value = self.mixed(x).chunk(3, dim=-1)
        scores = query @ key.transpose(1, 2) / math.sqrt(x.shape[-1])
        scores = scores.masked_fill(self.mask, float("-inf"))
        return torch.softmax(scores, dim=-1) @ value


class Reader(nn.Module):
    def __init__(self, mask):
        super().__init__()
        self.letters = nn.Embedding(LETTERS, WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        self.attention = Attention(WIDTH, mask)
        self.head = nn.Linear(WIDTH, LETTERS)

    def forward(self, tokens):
        x = self.letters(tokens) + self.places(torch.arange(LENGTH))
        return self.head(x + self.attention(x))


def fit(model, inputs, targets):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(8):
        for rows in torch.randperm(len(inputs)).split(24):
            loss = nn.functional.cross_entropy(model(inputs[rows]).transpose(1, 2), targets[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(epoch, loss.item())


beginning = torch.randint(0, LETTERS, (240, 1))
text = (beginning + 3 * torch.arange(LENGTH + 1)) % LETTERS
later = torch.ones(LENGTH, LENGTH).triu(1).bool()
fit(Reader(later), text[:, :-1], text[:, 1:])

words = torch.randint(0, LETTERS, (240, LENGTH))
fit(Reader(torch.zeros_like(later)), words, (words + 1) % LETTERS)
