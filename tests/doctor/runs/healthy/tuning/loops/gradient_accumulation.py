import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
accumulation_steps = 4
x = torch.randn(640, 12)
y = (x[:, :4].sum(dim=1) > 0).long() + (x[:, 4] > 1).long()
train_loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)

model = nn.Sequential(nn.Linear(12, 48), nn.Tanh(), nn.Linear(48, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)

for epoch in range(5):
    optimizer.zero_grad()
    for i, (inputs, labels) in enumerate(train_loader):
        loss = F.cross_entropy(model(inputs), labels)
        loss = loss / accumulation_steps
        loss.backward()
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
        if i % 40 == 0:
            print(epoch, i, loss.item() * accumulation_steps)
