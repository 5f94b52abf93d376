"""A transformer encoder decides whether a sequence is a palindrome; then attention by itself."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F

LETTERS, LENGTH, WIDTH = 4, 6, 16


class PositionalEncoding(nn.Module):
    def __init__(self, width, longest=32):
        super().__init__()
        position = torch.arange(longest).unsqueeze(1)
        rate = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        table = torch.zeros(1, longest, width)
        table[0, :, 0::2] = torch.sin(position * rate)
        table[0, :, 1::2] = torch.cos(position * rate)
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[:, : x.size(1)]


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(LETTERS, WIDTH)
        self.position = PositionalEncoding(WIDTH)
        layer = nn.TransformerEncoderLayer(
            WIDTH, nhead=4, dim_feedforward=32, dropout=0.0, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, 2)

    def forward(self, tokens):
        x = self.position(self.embed(tokens) * math.sqrt(WIDTH))
        return self.head(self.encoder(x).mean(dim=1))


half = torch.tensor([[(i * 7 + j * (i % 5 + 1)) % LETTERS for j in range(3)] for i in range(40)])
mirrored = torch.cat([half, half.flip(1)], dim=1)
straight = torch.cat([half, (half + 1) % LETTERS], dim=1)
tokens, labels = torch.cat([mirrored, straight]), torch.tensor([1] * 40 + [0] * 40)

model = Classifier()
with torch.no_grad():
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1:
            wave = torch.sin(torch.arange(parameter.numel()) * 1.1 + len(name))
            parameter.copy_(wave.view_as(parameter) * 0.25)
        elif "norm" not in name:
            nn.init.zeros_(parameter)
print(sum(p.numel() for p in model.parameters()), "parameters,", len(model.state_dict()), "tensors")
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(1, 31):
    logits = model(tokens)
    loss = F.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        accuracy = (logits.argmax(-1) == labels).float().mean().item()
        print(f"step {step}: loss {loss.item():.4f}, accuracy {accuracy:.4f}")

query = torch.sin(torch.arange(24.0)).view(1, 6, 4)
out = F.scaled_dot_product_attention(query, query, query, is_causal=True)
print(out[0, -1])
attention = nn.MultiheadAttention(WIDTH, 4, batch_first=True)
with torch.no_grad():
    for parameter in attention.parameters():
        parameter.copy_(torch.cos(torch.arange(parameter.numel()) * 0.3).view_as(parameter) * 0.2)
x = torch.sin(torch.arange(2 * 5 * WIDTH) * 0.2).view(2, 5, WIDTH)
mask = torch.triu(torch.ones(5, 5, dtype=torch.bool), diagonal=1)
out, weights = attention(x, x, x, attn_mask=mask)
print(out.shape, weights.shape, weights[0].detach())
