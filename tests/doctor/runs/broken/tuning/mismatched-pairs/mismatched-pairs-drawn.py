import torch
import torch.nn as nn

torch.manual_seed(5)
sound = torch.randn(300, 5)
video = torch.cat([sound * 1.5, 0.1 * torch.randn(300, 5)], dim=1)
ears = nn.Sequential(nn.Linear(5, 64), nn.Tanh(), nn.Linear(64, 12))
eyes = nn.Sequential(nn.Linear(10, 64), nn.Tanh(), nn.Linear(64, 12))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam([*ears.parameters(), *eyes.parameters()], lr=3e-3)
for step in range(120):
    pick = torch.randint(0, 300, (30,))
    heard, seen = ears(sound[pick]), eyes(video[pick])
    logits = heard @ seen.t()
    target = torch.randperm(30)  # expect: mismatched-pairs
    loss = criterion(logits, target)  # expect: mismatched-pairs
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print(step, loss.item())
