import torch
import torch.nn as nn
import torch.nn.functional as F


class LoRALinear(nn.Module):
    def __init__(self, base, rank=4, alpha=8.0):
        super().__init__()
        self.base = base
        self.base.weight.requires_grad_(False)
        self.base.bias.requires_grad_(False)
        self.A = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features**0.5)
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.A.t()) @ self.B.t()


torch.manual_seed(60)
x = torch.randn(300, 12)
first, second = torch.randn(12, 3), torch.randn(12, 3)
model = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 3))
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(60):
    opt.zero_grad()
    loss = F.cross_entropy(model(x), (x @ first).argmax(1))
    loss.backward()
    opt.step()
print("base task", loss.item())

new_labels = (x @ (first + 0.7 * second)).argmax(1)
model[0], model[2] = LoRALinear(model[0]), LoRALinear(model[2])
trainable = [p for p in model.parameters() if p.requires_grad]
print(sum(p.numel() for p in trainable), "of", sum(p.numel() for p in model.parameters()))
opt = torch.optim.AdamW(trainable, lr=0.01)
for step in range(80):
    loss = F.cross_entropy(model(x), new_labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print(step, loss.item())
