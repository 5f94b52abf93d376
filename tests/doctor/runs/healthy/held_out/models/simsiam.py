import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(40)
centers = 2 * torch.randn(8, 16)
encoder = nn.Sequential(nn.Linear(16, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 16))
projector = nn.BatchNorm1d(16, affine=False)
predictor = nn.Sequential(nn.Linear(16, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 16))
model = nn.ModuleList([encoder, projector, predictor])
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)


def D(p, z):
    return -F.cosine_similarity(p, z.detach(), dim=1).mean()


for step in range(120):
    base = centers[torch.randint(0, 8, (64,))]
    x1 = base + 0.5 * torch.randn_like(base)
    x2 = base + 0.5 * torch.randn_like(base)
    z1, z2 = projector(encoder(x1)), projector(encoder(x2))
    p1, p2 = predictor(z1), predictor(z2)
    loss = D(p1, z2) / 2 + D(p2, z1) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        spread = F.normalize(z1.detach(), dim=1).std(dim=0).mean().item()
        print(f"{step:3d} loss {loss.item():.4f} spread {spread:.3f}")
