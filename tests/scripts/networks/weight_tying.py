"""A small language model whose output matrix is its embedding, trained to repeat a rhyme."""

import torch
import torch.nn as nn
import torch.nn.functional as F

RHYME = "row row row your boat gently down the stream "
letters = sorted(set(RHYME))
encode = {letter: number for number, letter in enumerate(letters)}
data = torch.tensor([encode[letter] for letter in RHYME * 3])


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in (q, k, v))
        scores = (q @ k.transpose(-2, -1)) / (C // self.heads) ** 0.5
        hidden = torch.tril(torch.ones(T, T)) == 0
        weights = F.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)
        return self.out((weights @ v).transpose(1, 2).contiguous().view(B, T, C))


class TinyLM(nn.Module):
    def __init__(self, vocabulary, width=16, context=8):
        super().__init__()
        self.context = context
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = nn.Parameter(torch.zeros(context, width))
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, 2)
        self.feed = nn.Sequential(nn.Linear(width, 32), nn.GELU(), nn.Linear(32, width))
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, idx, targets=None):
        x = self.tokens(idx) + self.places[: idx.shape[1]]
        x = x + self.attention(self.norm1(x))
        x = x + self.feed(self.norm2(x))
        logits = self.head(x)
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1))


model = TinyLM(len(letters))
with torch.no_grad():
    for number, parameter in enumerate(model.parameters()):
        if parameter.dim() > 1:
            wave = torch.sin(torch.arange(parameter.numel()) * 1.7 + number)
            parameter.copy_(0.3 * wave.view_as(parameter))
    for module in model.feed:
        if isinstance(module, nn.Linear):
            module.bias.zero_()
print("tied:", model.head.weight is model.tokens.weight, sum(p.numel() for p in model.parameters()))
print(len(list(model.parameters())), len(model.state_dict()))
starts = torch.arange(0, 100, 5)
inputs = torch.stack([data[i : i + 8] for i in starts])
targets = torch.stack([data[i + 1 : i + 9] for i in starts])
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for step in range(31):
    _, loss = model(inputs, targets)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step}: {loss.item():.4f}, perplexity {torch.exp(loss.detach()).item():.3f}")
model.eval()
text = data[:4].unsqueeze(0)
with torch.no_grad():
    for _ in range(24):
        logits, _ = model(text[:, -8:])
        text = torch.cat([text, logits[:, -1].argmax(-1, keepdim=True)], dim=1)
print(repr("".join(letters[i] for i in text[0].tolist())))
