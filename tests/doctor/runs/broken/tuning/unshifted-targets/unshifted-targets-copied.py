import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)
text = "the quick brown fox jumps over the lazy dog and runs away from the bad wolf " * 20
letters = sorted(set(text))
data = torch.tensor([letters.index(each) for each in text])
V, T = len(letters), 16


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(V, 16)
        self.memory = nn.GRU(16, 32, batch_first=True)
        self.out = nn.Linear(32, V)

    def forward(self, tokens):
        return self.out(self.memory(self.table(tokens))[0])


model = Writer()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(60):
    starts = torch.randint(0, len(data) - T - 1, (16,))
    x = torch.stack([data[i : i + T] for i in starts.tolist()])
    y = torch.stack([data[i : i + T] for i in starts.tolist()])  # expect: unshifted-targets
    loss = F.cross_entropy(model(x).reshape(-1, V), y.reshape(-1))  # expect: unshifted-targets
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.item())
