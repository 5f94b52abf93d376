"""Is it about cooking or about sailing?  Embeddings, averaged, and a DataLoader with collate."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

SENTENCES = [
    ("stir the soup and add salt", 0),
    ("the wind fills the sail", 1),
    ("slice the bread and fry the fish", 0),
    ("hoist the anchor and set the sail", 1),
    ("add pepper to the soup", 0),
    ("the boat leaves with the wind", 1),
    ("fry the onions in butter", 0),
    ("tie the boat to the harbour", 1),
]
words = sorted({word for sentence, _ in SENTENCES for word in sentence.split()})
index = {word: number for number, word in enumerate(words, start=1)}


def encode(sentence):
    return torch.tensor([index.get(word, 0) for word in sentence.split()], dtype=torch.long)


def collate(batch):
    texts = [encode(sentence) for sentence, _ in batch]
    longest = max(map(len, texts))
    padded = torch.stack([F.pad(text, (0, longest - len(text))) for text in texts])
    return padded, torch.tensor([label for _, label in batch])


class Bag(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width, padding_idx=0)
        self.head = nn.Linear(width, 2)

    def forward(self, tokens):
        there = (tokens != 0).unsqueeze(-1).float()
        mean = (self.embedding(tokens) * there).sum(1) / there.sum(1).clamp(min=1)
        return self.head(mean)


loader = DataLoader(SENTENCES, batch_size=3, collate_fn=collate, drop_last=False)
for tokens, labels in loader:
    print(tuple(tokens.shape), labels.tolist())

model = Bag(len(words) + 1, 5)
with torch.no_grad():
    model.embedding.weight[1:] = torch.sin(torch.arange(len(words) * 5)).view(-1, 5)
    model.head.weight.copy_(torch.cos(torch.arange(10)).view(2, 5))
    model.head.bias.zero_()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for epoch in range(8):
    total = 0.0
    for tokens, labels in loader:
        loss = F.cross_entropy(model(tokens), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch}: {total / len(loader):.4f}")
with torch.no_grad():
    for sentence in ("add salt to the fish", "set the sail in the wind", "unknown words only"):
        chances = F.softmax(model(encode(sentence).unsqueeze(0)), dim=-1).squeeze()
        print(f"{sentence}: {chances.tolist()[0]:.3f} {chances.tolist()[1]:.3f}")
near = F.cosine_similarity(model.embedding.weight[index["sail"]], model.embedding.weight, dim=-1)
print(words[near[1:].topk(2).indices[1].item()], f"{model.embedding.weight[0].norm():.1f}")
