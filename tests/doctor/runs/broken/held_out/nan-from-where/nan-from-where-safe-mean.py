import torch
from torch import nn, optim


class BagMean(nn.Module):
    """Mean of the word vectors of each document; documents without words give zeros."""

    def __init__(self, words, dim):
        super().__init__()
        self.vectors = nn.Parameter(0.1 * torch.randn(words, dim))

    def forward(self, counts):
        total = counts @ self.vectors
        n = counts.sum(dim=1, keepdim=True)
        return torch.where(n > 0, total / n, torch.zeros_like(total))  # expect: nan-from-where


torch.manual_seed(2)
counts = torch.floor(torch.rand(200, 30) * 1.2)
counts[::40] = 0
labels = (counts[:, :15].sum(dim=1) > counts[:, 15:].sum(dim=1)).long()
model = nn.Sequential(BagMean(30, 8), nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
criterion = nn.CrossEntropyLoss()
optimizer = optim.Adam(model.parameters(), lr=0.01)
for epoch in range(30):
    order = torch.randperm(200)
    for start in range(0, 200, 25):
        idx = order[start : start + 25]
        loss = criterion(model(counts[idx]), labels[idx])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
    if epoch % 5 == 0:
        print(f"epoch {epoch}: {loss.item():.4f}")
