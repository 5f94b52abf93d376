import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(31)
prototypes = 1.5 * torch.randn(6, 12)


def draw(which):
    return prototypes[which] + 0.7 * torch.randn(len(which), 12)


tower = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 8))
optimizer = torch.optim.Adam(tower.parameters(), lr=2e-3)

for step in range(150):
    same = torch.randint(0, 6, (48,))
    other = (same + torch.randint(1, 6, (48,))) % 6
    anchor = F.normalize(tower(draw(same)), dim=1)
    positive = F.normalize(tower(draw(same)), dim=1)
    negative = F.normalize(tower(draw(other)), dim=1)
    d_pos = (anchor - positive).pow(2).sum(1)
    d_neg = (anchor - negative).pow(2).sum(1)
    loss = torch.clamp(d_pos - d_neg + 0.8, min=0).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        print(step, "loss", loss.item(), "margin", (d_neg - d_pos).mean().item())
