import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
things = torch.randn(320, 6)
left, right = things @ torch.randn(6, 15), things @ torch.randn(6, 11)


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Sequential(nn.Linear(15, 64), nn.ReLU(), nn.Linear(64, 16))
        self.right = nn.Sequential(nn.Linear(11, 64), nn.ReLU(), nn.Linear(64, 16))

    def forward(self, a, b):
        return F.normalize(self.left(a), dim=1), F.normalize(self.right(b), dim=1)


model = Pair()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(12):
    for rows in torch.randperm(320).split(32):
        a, b = model(left[rows], right[rows])
        scores = a @ b.t() / 0.1
        labels = torch.zeros(len(rows), dtype=torch.long)  # expect: mismatched-pairs
        loss = F.cross_entropy(scores, labels)  # expect: mismatched-pairs
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
