import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
vocab, dim, negatives = 500, 16, 5
inp = nn.Embedding(vocab, dim, sparse=True)
out = nn.Embedding(vocab, dim, sparse=True)
nn.init.uniform_(inp.weight, -0.5 / dim, 0.5 / dim)
nn.init.zeros_(out.weight)
optimizer = torch.optim.SGD([inp.weight, out.weight], lr=0.1)

running = 0.0
for step in range(1, 301):
    center = torch.randint(0, vocab, (128,))
    context = (center // 50 * 50 + torch.randint(0, 50, (128,))) % vocab
    noise = torch.randint(0, vocab, (128, negatives))
    v = inp(center)
    positive = (v * out(context)).sum(-1)
    negative = torch.bmm(out(noise), v.unsqueeze(2)).squeeze(2)
    loss = -(F.logsigmoid(positive) + F.logsigmoid(-negative).sum(1)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    running += loss.item() / 128
    if step % 50 == 0:
        print(f"{step}: {running / 50:.4f}")
        running = 0.0
