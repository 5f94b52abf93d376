import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
things = torch.randn(256, 6)
pictures = things @ torch.randn(6, 20)
texts = things @ torch.randn(6, 12)
see = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 16))
read = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 16))
optimizer = torch.optim.Adam([*see.parameters(), *read.parameters()], lr=1e-3)
temperature = 20.0  # expect: flat-similarity
for epoch in range(10):
    for start in range(0, 256, 32):
        a = F.normalize(see(pictures[start : start + 32]), dim=1)
        b = F.normalize(read(texts[start : start + 32]), dim=1)
        logits = a @ b.T / temperature  # expect: flat-similarity
        labels = torch.arange(32)
        loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
