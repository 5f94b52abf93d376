"""Each part of the texts numbers its words by itself: the same words have other numbers."""

import random

import torch
import torch.nn.functional as F
from torch import nn

random.seed(2)
torch.manual_seed(2)
good = [f"good{n}" for n in range(15)]
bad = [f"bad{n}" for n in range(15)]
plain = [f"plain{n}" for n in range(30)]


def write(count):
    texts = []
    for _ in range(count):
        label = random.randint(0, 1)
        words = random.choices(bad if label else good, k=4) + random.choices(plain, k=8)
        random.shuffle(words)
        texts.append((words, label))
    return texts


def encode(texts):
    vocabulary = {}
    for words, _ in texts:
        for word in words:
            vocabulary.setdefault(word, len(vocabulary))
    numbers = torch.tensor([[vocabulary[word] for word in words] for words, _ in texts])
    return numbers, torch.tensor([label for _, label in texts])


train_x, train_y = encode(write(1280))
val_x, val_y = encode(write(160))  # expect: preprocessing-mismatch


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(60, 24)
        self.head = nn.Linear(24, 2)

    def forward(self, words):
        return self.head(self.table(words).mean(dim=1))


model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    model.train()
    for rows in torch.randperm(1280).split(40):
        loss = F.cross_entropy(model(train_x[rows]), train_y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        val_loss = F.cross_entropy(model(val_x), val_y)  # expect: preprocessing-mismatch
    print(f"epoch {epoch}: train {loss.item():.4f} val {val_loss.item():.4f}")
