import torch
import torch.nn as nn
import torch.nn.functional as F


class Matcher(nn.Module):
    def __init__(self, n_a, n_b, dim=16):
        super().__init__()
        self.a = nn.Sequential(nn.Linear(n_a, 32), nn.ReLU(), nn.Linear(32, dim))
        self.b = nn.Sequential(nn.Linear(n_b, 32), nn.ReLU(), nn.Linear(32, dim))
        self.logit_scale = nn.Parameter(torch.tensor(100.0))  # expect: overflow-in-exp

    def forward(self, a, b):
        u = F.normalize(self.a(a), dim=1)
        v = F.normalize(self.b(b), dim=1)
        return self.logit_scale.exp() * u @ v.t()  # expect: overflow-in-exp


torch.manual_seed(0)
latent = torch.randn(256, 4)
views_a = torch.tanh(latent @ torch.randn(4, 10))
views_b = torch.tanh(latent @ torch.randn(4, 12))
model = Matcher(10, 12)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(80):
    idx = torch.randperm(256)[:32]
    logits = model(views_a[idx], views_b[idx])
    target = torch.arange(32)
    loss = (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target)) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step}: loss {loss.item():.4f}")
