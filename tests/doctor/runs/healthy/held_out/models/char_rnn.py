import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2024)
words = ["banana", "bandana", "cabana", "anagram", "panama", "canada", "alabama", "savanna"]
letters = "." + "".join(sorted(set("".join(words))))
index = {c: i for i, c in enumerate(letters)}


class Vanilla(nn.Module):
    """The recurrence written out by hand."""

    def __init__(self, hidden=48):
        super().__init__()
        self.hidden = hidden
        self.i2h = nn.Linear(len(letters) + hidden, hidden)
        self.h2o = nn.Linear(hidden, len(letters))

    def forward(self, x, h):
        h = torch.tanh(self.i2h(torch.cat([x, h], dim=-1)))
        return self.h2o(h), h


rnn = Vanilla()
optimizer = torch.optim.Adam(rnn.parameters(), lr=0.008)
smooth = None
for step in range(120):
    word = words[int(torch.randint(len(words), (1,)))]
    ids = [0, *(index[c] for c in word), 0]
    h = torch.zeros(1, rnn.hidden)
    loss = 0
    for k in range(len(ids) - 1):
        x = F.one_hot(torch.tensor([ids[k]]), len(letters)).float()
        out, h = rnn(x, h)
        loss = loss + F.cross_entropy(out, torch.tensor([ids[k + 1]]))
    loss = loss / (len(ids) - 1)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(rnn.parameters(), 5.0)
    optimizer.step()
    smooth = loss.item() if smooth is None else 0.95 * smooth + 0.05 * loss.item()
    if step % 20 == 0:
        print(f"{step:4d} {word:10s} loss {loss.item():.3f} smooth {smooth:.3f}")
