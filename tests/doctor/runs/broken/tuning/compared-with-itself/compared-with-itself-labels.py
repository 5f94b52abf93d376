import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)
data = torch.randn(320, 12)
encoder = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 16))
optimizer = torch.optim.Adam(encoder.parameters(), lr=1e-3)
half = 32
for epoch in range(8):
    for start in range(0, 320, half):
        batch = data[start : start + half]
        views = [batch + 0.2 * torch.randn(half, 12) for _ in range(2)]
        z = F.normalize(torch.cat([encoder(each) for each in views]), dim=1)
        similar = z @ z.t() / 0.2  # expect: compared-with-itself
        labels = torch.cat([torch.arange(half) + half, torch.arange(half)])
        loss = F.cross_entropy(similar, labels)  # expect: compared-with-itself
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
