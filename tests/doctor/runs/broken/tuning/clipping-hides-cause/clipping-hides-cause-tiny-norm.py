import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(43)
x = torch.randn(256, 8)
y = (x[:, :4].sum(1) > x[:, 4:].sum(1)).long()

model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
max_norm = 1e-3  # expect: clipping-hides-cause

for step in range(200):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)  # expect: clipping-hides-cause
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step:3d} loss {loss.item():.4f}")
print(f"final loss {loss.item():.4f}")
