import torch
import torch.nn as nn
import torch.nn.functional as F


class Factorization(nn.Module):
    def __init__(self, rows, cols, rank):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(cols))
        self.left = nn.Parameter(0.3 * torch.randn(rows, rank))
        right = nn.Parameter(0.3 * torch.randn(cols, rank))
        self.right = right.t()  # expect: parameter-not-in-optimizer

    def forward(self):
        return self.left @ self.right + self.bias


torch.manual_seed(6)
table = torch.randn(30, 4) @ torch.randn(4, 40)
model = Factorization(30, 40, 4)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)  # expect: parameter-not-in-optimizer
for step in range(300):
    loss = F.mse_loss(model(), table)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 60 == 59:
        print(f"step {step + 1}: error {loss.item():.4f}")
