import torch
import torch.nn as nn
import torch.nn.functional as F

WORDS = ["good", "great", "fine", "nice", "bad", "awful", "poor", "sad", "film", "plot"]
TEXTS = [
    ("good film great plot", 1),
    ("bad film", 0),
    ("awful plot sad film", 0),
    ("nice nice film", 1),
    ("fine plot and nice people", 1),
    ("poor poor awful", 0),
    ("boring", 0),
    ("great", 1),
] * 8


def vector(text):
    counts = torch.zeros(len(WORDS))
    for word in text.split():
        if word in WORDS:
            counts[WORDS.index(word)] += 1
    return counts


class Sentiment(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(len(WORDS), 16)
        self.fc2 = nn.Linear(16, 1)

    def forward(self, counts):
        frequency = counts / counts.sum(dim=1, keepdim=True)  # expect: nan-from-division
        return self.fc2(torch.relu(self.fc1(frequency))).squeeze(1)


torch.manual_seed(0)
x = torch.stack([vector(text) for text, _ in TEXTS])
y = torch.tensor([float(label) for _, label in TEXTS])
model = Sentiment()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for epoch in range(30):
    for idx in torch.randperm(len(x)).split(4):
        loss = F.binary_cross_entropy_with_logits(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 5 == 0:
        print(f"epoch {epoch}: {loss.item():.4f}")
