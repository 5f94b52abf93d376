import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(64)


class TwoTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 8))
        self.right = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 8))

    def forward(self, a, b):
        return self.left(a), self.right(b)


shared = torch.randn(200, 3)
a = shared @ torch.randn(3, 6)
b = shared @ torch.randn(3, 5)

model = TwoTower()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
for step in range(100):
    u, v = model(a, b)
    similarity = F.cosine_similarity(u, v, dim=1)
    loss = similarity.mean()  # expect: loss-sign
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.4f}")
with torch.no_grad():
    u, v = model(a, b)
    scores = F.normalize(u, dim=1) @ F.normalize(v, dim=1).T
    print("matched", (scores.argmax(1) == torch.arange(200)).float().mean().item())
    print("similarity of pairs", F.cosine_similarity(u, v, dim=1).mean().item())
