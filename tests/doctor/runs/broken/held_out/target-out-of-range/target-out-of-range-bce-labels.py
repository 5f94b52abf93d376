import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(24)
x = torch.randn(300, 4)
diagnosis = (x[:, 0] + x[:, 1] > 0).long() + 1
y = diagnosis.float().unsqueeze(1)  # expect: target-out-of-range

model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for step in range(200):
    logits = model(x)
    loss = F.binary_cross_entropy_with_logits(logits, y)  # expect: target-out-of-range
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        print(f"step {step} loss {loss.item():.4f}")

predicted = (torch.sigmoid(model(x)) > 0.5).long().squeeze(1) + 1
print("accuracy", (predicted == diagnosis).float().mean().item())
