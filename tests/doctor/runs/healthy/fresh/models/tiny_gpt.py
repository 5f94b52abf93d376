import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1337)
text = "to be or not to be that is the question " * 10
chars = sorted(set(text))
data = torch.tensor([chars.index(c) for c in text])
block, batch, dim, heads = 16, 12, 32, 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.register_buffer("mask", torch.tril(torch.ones(block, block)))

    def attend(self, x):
        b, t, c = x.shape
        q, k, v = (
            z.view(b, t, heads, c // heads).transpose(1, 2) for z in self.qkv(x).split(dim, dim=2)
        )
        att = (q @ k.transpose(-2, -1)) / math.sqrt(c // heads)
        att = att.masked_fill(self.mask[:t, :t] == 0, float("-inf"))
        y = F.softmax(att, dim=-1) @ v
        return self.proj(y.transpose(1, 2).reshape(b, t, c))

    def forward(self, x):
        x = x + self.attend(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.pos = nn.Embedding(block, dim)
        self.blocks = nn.Sequential(Block())
        self.ln = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)

    def forward(self, idx):
        x = self.tok(idx) + self.pos(torch.arange(idx.shape[1]))
        return self.head(self.ln(self.blocks(x)))


model = GPT(len(chars))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(80):
    ix = torch.randint(0, len(data) - block - 1, (batch,)).tolist()
    xb = torch.stack([data[i : i + block] for i in ix])
    yb = torch.stack([data[i + 1 : i + block + 1] for i in ix])
    logits = model(xb)
    loss = F.cross_entropy(logits.view(-1, len(chars)), yb.view(-1))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step}: {loss.item():.4f}")
