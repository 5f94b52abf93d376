import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(5)
codes = torch.randn(800, 4)
signals = torch.tanh(codes @ torch.randn(4, 20)) + 0.05 * torch.randn(800, 20)
kinds = (codes[:, 0] > 0).long() + 2 * (codes[:, 1] > 0).long()

encoder = nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Linear(48, 16), nn.ReLU())
classify, rebuild = nn.Linear(16, 4), nn.Linear(16, 20)
parts = nn.ModuleList([encoder, classify, rebuild])
optimizer = torch.optim.Adam(parts.parameters(), lr=3e-3)
for epoch in range(20):
    for rows in torch.randperm(800).split(50):
        inside = encoder(signals[rows])
        right = F.cross_entropy(classify(inside), kinds[rows])
        same = F.mse_loss(rebuild(inside), signals[rows])
        small = inside.pow(2).mean()
        # The rebuilding has layers of its own, and learns with little weight, too.
        loss = right + 0.02 * same + 0.0001 * small
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} class {right.item():.3f} rebuilt {same.item():.3f}")
