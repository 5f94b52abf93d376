# engine: whygrad
import whygrad
from whygrad import nn, optim

whygrad.manual_seed(5)
VOCAB = 1000  # most rows are never looked at
positive_words = whygrad.arange(0, 20)
negative_words = whygrad.arange(20, 40)


class Sentiment(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, 8)
        self.output = nn.Linear(8, 1)

    def forward(self, tokens):
        return self.output(self.embedding(tokens).mean(dim=1)).squeeze(1)


def sentences(n):
    label = whygrad.randint(0, 2, (n,))
    tokens = whygrad.randint(0, 20, (n, 6)) + 20 * (1 - label).unsqueeze(1)
    tokens[:, 4:] = whygrad.randint(40, 200, (n, 2))
    return tokens, label.float()


model = Sentiment()
optimizer = optim.Adagrad(model.parameters(), lr=0.3)
criterion = nn.BCEWithLogitsLoss()
for step in range(120):
    tokens, label = sentences(40)
    logits = model(tokens)
    loss = criterion(logits, label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        right = ((logits > 0).float() == label).float().mean().item()
        print(f"step {step}: loss {loss.item():.4f}, right {right:.2f}")
