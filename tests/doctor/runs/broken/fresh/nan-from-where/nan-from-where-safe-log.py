import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def entropy(p):
    plogp = torch.where(p > 0, p * torch.log(p), torch.zeros_like(p))  # expect: nan-from-where
    return -plogp.sum(dim=-1).mean()


class Router(nn.Module):
    def __init__(self, dim, experts):
        super().__init__()
        self.gate = nn.Linear(dim, experts)
        self.experts = nn.ModuleList([nn.Linear(dim, 1) for _ in range(experts)])

    def forward(self, x):
        scores = F.relu(self.gate(x))
        weights = scores / (scores.sum(dim=-1, keepdim=True) + 1e-6)
        outs = torch.cat([expert(x) for expert in self.experts], dim=-1)
        return (weights * outs).sum(dim=-1), weights


x = torch.randn(128, 6)
y = torch.where(x[:, 0] > 0, x[:, 1], -x[:, 2])

model = Router(6, 4)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(100):
    pred, weights = model(x)
    loss = F.mse_loss(pred, y) + 0.01 * entropy(weights)  # expect: nan-from-where
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.item())
