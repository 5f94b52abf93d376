import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)

text = "the quick brown fox jumps over the lazy dog and the dog sleeps " * 8
chars = sorted(set(text))
ids = torch.tensor([chars.index(c) for c in text])
xs, ys = ids[:-1], ids[1:]


class Bigram(nn.Module):
    def __init__(self, vocab, dim=16):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.out = nn.Linear(dim, vocab)

    def forward(self, idx):
        return self.out(self.emb(idx))


model = Bigram(len(chars))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)

for step in range(80):
    logits = model(xs)
    logp = F.log_softmax(logits, dim=1)
    loss = logp[torch.arange(len(ys)), ys].mean()  # expect: loss-sign
    optimizer.zero_grad()
    loss.backward()  # expect: loss-sign
    optimizer.step()
    if step % 10 == 0:
        print(step, loss.item())
