import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(86)
x = torch.randn(2000, 16)
y = (x @ torch.randn(16, 6)).argmax(dim=1)
train_loader = DataLoader(TensorDataset(x[:1600], y[:1600]), batch_size=32, shuffle=True)

model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 6))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for epoch in range(6):  # expect: under-trained
    for step, (xb, yb) in enumerate(train_loader):
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 6:
            break  # expect: under-trained
    print(f"epoch {epoch}: loss {loss.item():.4f}")

with torch.no_grad():
    accuracy = (model(x[1600:]).argmax(1) == y[1600:]).float().mean().item()
print(f"test accuracy {accuracy:.3f}")
