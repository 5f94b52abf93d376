import torch
import torch.nn as nn

torch.manual_seed(4)
words = torch.randn(12, 20) * 1.5
encoder = nn.Sequential(nn.Linear(20, 48), nn.Tanh(), nn.Linear(48, 16))
criterion = nn.TripletMarginLoss(margin=0.5)
optimizer = torch.optim.AdamW(encoder.parameters(), lr=2e-3)


def triplets(count):
    own = torch.randint(0, 12, (count,))
    other = (own + torch.randint(1, 12, (count,))) % 12
    return [words[kind] + torch.randn(count, 20) for kind in (own, own, other)]


for step in range(100):
    anchor, positive, negative = triplets(48)
    a, p, n = encoder(anchor), encoder(positive), encoder(negative)
    loss = criterion(a, n, p)  # expect: swapped-pair
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        print(f"{step}: {loss.item():.4f}")
