import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(8)
x_all = torch.randn(400, 10)
y_all = (x_all[:, :5].sum(1) > 0).float().unsqueeze(1)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)


def fgsm(x, y, eps):
    x = x.clone().requires_grad_(True)
    F.binary_cross_entropy_with_logits(model(x), y).backward()
    return (x + eps * x.grad.sign()).detach()


for step in range(120):
    pick = torch.randperm(400)[:64]
    x, y = x_all[pick], y_all[pick]
    attacked = fgsm(x, y, 0.05)
    optimizer.zero_grad()
    clean_loss = F.binary_cross_entropy_with_logits(model(x), y)
    adversarial_loss = F.binary_cross_entropy_with_logits(model(attacked), y)
    (0.5 * clean_loss + 0.5 * adversarial_loss).backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, f"clean {clean_loss.item():.3f} attacked {adversarial_loss.item():.3f}")
