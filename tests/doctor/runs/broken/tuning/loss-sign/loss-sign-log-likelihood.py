import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(60)
x = torch.randn(300, 5)
labels = (x[:, 0] + x[:, 1] > 0).long()

model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)


def objective(logits, target):
    log_probs = F.log_softmax(logits, dim=1)
    return log_probs.gather(1, target.unsqueeze(1)).mean()  # expect: loss-sign


for step in range(120):
    loss = objective(model(x), labels)  # expect: loss-sign
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f}")
print("accuracy", (model(x).argmax(1) == labels).float().mean().item())
