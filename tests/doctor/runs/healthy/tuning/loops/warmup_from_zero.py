import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import LambdaLR

torch.manual_seed(8)
X = torch.randn(512, 20)
W = torch.randn(20, 4)
labels = (X @ W).argmax(dim=1)

model = nn.Sequential(nn.Linear(20, 64), nn.LayerNorm(64), nn.GELU(), nn.Linear(64, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=6e-3, weight_decay=0.01)
warmup, total = 15, 120


def schedule(step):
    if step < warmup:
        return step / warmup
    return max(0.0, (total - step) / (total - warmup))


scheduler = LambdaLR(optimizer, schedule)
for step in range(total):
    index = torch.randint(0, 512, (64,))
    loss = F.cross_entropy(model(X[index]), labels[index])
    loss.backward()
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad()
    if step % 20 == 0:
        print(step, f"lr {scheduler.get_last_lr()[0]:.5f} loss {loss.item():.4f}")
print("last loss", loss.item())
