import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(29)
centers = 0.7 * torch.randn(4, 8)
labels = torch.arange(4).repeat_interleave(160)
inputs = centers[labels] + 1.0 * torch.randn(640, 8)

dataset = TensorDataset(inputs, labels)
loader = DataLoader(dataset, batch_size=16, shuffle=False)  # expect: oscillation

model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

for epoch in range(6):
    trace = []
    for xb, yb in loader:
        loss = F.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        trace.append(round(loss.item(), 2))
    print(f"epoch {epoch:2d}", trace[::5])

with torch.no_grad():
    print("accuracy", (model(inputs).argmax(1) == labels).float().mean().item())
