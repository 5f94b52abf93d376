import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

x = torch.randn(8, 4)
y = torch.tensor([0, 1, 0, 1, 1, 0, 0, 1])
before = nn.functional.cross_entropy(model(x), y)
optimizer.zero_grad()
before.backward()
optimizer.step()
after = nn.functional.cross_entropy(model(x), y)
print(f"before {before.item():.4f} after {after.item():.4f}")
