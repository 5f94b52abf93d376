import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
PAD, VOCAB, MAXLEN = 0, 11, 8


def batch(n):
    lengths = torch.randint(1, MAXLEN + 1, (n,))
    tokens = torch.randint(1, VOCAB, (n, MAXLEN))
    tokens[torch.arange(MAXLEN)[None, :] >= lengths[:, None]] = PAD
    return tokens, (tokens == 7).any(dim=1).long()


class AttentionPool(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, width, padding_idx=PAD)
        self.score = nn.Linear(width, 1)
        self.out = nn.Linear(width, 2)

    def forward(self, tokens):
        x = self.embed(tokens)
        scores = self.score(torch.tanh(x)).squeeze(-1)
        scores = scores.masked_fill(tokens == PAD, float("-inf"))
        weights = torch.softmax(scores, dim=1)
        return self.out((weights.unsqueeze(-1) * x).sum(dim=1))


model = AttentionPool()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(150):
    tokens, labels = batch(64)
    logits = model(tokens)
    loss = F.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        accuracy = (logits.argmax(1) == labels).float().mean().item()
        print(f"{step:4d}  loss {loss.item():.4f}  acc {accuracy:.3f}")
