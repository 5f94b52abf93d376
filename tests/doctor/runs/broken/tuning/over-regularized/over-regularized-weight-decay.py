import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(37)
x = torch.randn(300, 10)
y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).long()

model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.SGD(  # expect: over-regularized
    model.parameters(),
    lr=0.1,
    momentum=0.9,
    weight_decay=0.5,  # expect: over-regularized
)

for epoch in range(150):
    optimizer.zero_grad()
    logits = model(x)
    loss = F.cross_entropy(logits, y)
    loss.backward()
    optimizer.step()
    if epoch % 25 == 0:
        accuracy = (logits.argmax(1) == y).float().mean().item()
        print(f"epoch {epoch:3d} loss {loss.item():.4f} accuracy {accuracy:.3f}")
print(f"final loss {loss.item():.4f}")
