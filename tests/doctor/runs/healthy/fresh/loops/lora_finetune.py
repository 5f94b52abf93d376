import torch
import torch.nn as nn

torch.manual_seed(0)


class LoRALinear(nn.Module):
    def __init__(self, base, rank=4, alpha=8):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad = False
        self.A = nn.Parameter(torch.randn(rank, base.in_features) * 0.05)
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.A.t()) @ self.B.t()


model = nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 2))
X = torch.randn(256, 12)
old_task = (X[:, 0] > 0).long()
new_task = (X[:, 0] + X[:, 1] > 0).long()

pretrain = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(30):
    pretrain.zero_grad()
    nn.functional.cross_entropy(model(X), old_task).backward()
    pretrain.step()

for i in (0, 2, 4):
    model[i] = LoRALinear(model[i])
trainable = [p for p in model.parameters() if p.requires_grad]
print("trainable:", sum(p.numel() for p in trainable))
optimizer = torch.optim.AdamW(trainable, lr=5e-3)
for step in range(60):
    loss = nn.functional.cross_entropy(model(X), new_task)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step}: loss {loss.item():.4f}")
