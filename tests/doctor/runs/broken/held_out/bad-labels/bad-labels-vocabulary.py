import torch
import torch.nn as nn
import torch.nn.functional as F

text = "the quick brown fox jumps over the lazy dog and runs away from the hound"
letters = sorted(set(text))
stoi = {c: i + 1 for i, c in enumerate(letters)}
vocab_size = len(letters)  # expect: bad-labels

data = torch.tensor([stoi[c] for c in text])
context = F.one_hot(data[:-1], 64).float()
following = data[1:]

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, vocab_size))  # expect: bad-labels
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(100):
    logits = model(context)
    loss = F.cross_entropy(logits, following)  # expect: bad-labels
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.item())
print("final", loss.item())
