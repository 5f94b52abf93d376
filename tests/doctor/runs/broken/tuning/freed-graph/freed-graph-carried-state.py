import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
text = "the quick brown fox jumps over the lazy dog " * 20
chars = sorted(set(text))
index = {c: i for i, c in enumerate(chars)}
data = torch.tensor([index[c] for c in text])


class CharModel(nn.Module):
    def __init__(self, vocab, hidden=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, 16)
        self.rnn = nn.GRU(16, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, tokens, state):
        h, state = self.rnn(self.embed(tokens), state)
        return self.out(h), state


model = CharModel(len(chars))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
state = torch.zeros(1, 1, 32)
length = 20
for step in range(40):
    start = step * length
    x = data[start : start + length].unsqueeze(0)
    y = data[start + 1 : start + length + 1]
    logits, state = model(x, state)  # expect: freed-graph
    loss = F.cross_entropy(logits[0], y)
    optimizer.zero_grad()
    loss.backward()  # expect: freed-graph
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.3f}")
