import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(16, 3, 8, 8)
y = torch.randint(0, 10, (16,))
model = nn.Sequential(
    nn.Conv2d(3, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(72, 10)
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

for i in range(5):
    logits = model(x)
    loss = F.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"smoke test step {i}: loss={loss.item():.4f}, logits={tuple(logits.shape)}")
