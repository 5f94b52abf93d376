import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
inputs = torch.randn(240, 5)
targets = (inputs[:, 0] > inputs[:, 1]).long()

model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=20, gamma=0.5)


def train_one_epoch():
    total = 0.0
    for start in range(0, 240, 24):  # expect: missing-step
        x, y = inputs[start : start + 24], targets[start : start + 24]
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()  # expect: missing-step
        total += loss.item()
    scheduler.step()  # expect: missing-step
    return total / 10


for epoch in range(20):
    mean = train_one_epoch()
    if epoch % 4 == 0:
        print(f"epoch {epoch}: loss {mean:.4f} lr {scheduler.get_last_lr()[0]:.4f}")
