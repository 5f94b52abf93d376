import torch
import torch.nn as nn
import torch.nn.functional as F


class AttentionPool(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.score = nn.Linear(dim, 1)
        self.value = nn.Linear(dim, 1)

    def forward(self, seq):
        weights = F.softmax(self.score(seq), dim=-1)  # expect: softmax-over-one
        pooled = (weights * self.value(seq)).sum(dim=1)
        return pooled.squeeze(-1)


def make_batch(n, length=15):
    """Predict feature 1 of the step whose feature 0 is set."""
    seq = torch.randn(n, length, 8)
    seq[:, :, 0] = 0
    where = torch.randint(0, length, (n,))
    seq[torch.arange(n), where, 0] = 4.0
    return seq, seq[torch.arange(n), where, 1]


torch.manual_seed(38)
model = AttentionPool()
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
for step in range(250):
    seq, wanted = make_batch(64)
    loss = F.mse_loss(model(seq), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        print(f"step {step} loss {loss.item():.4f}")
print(f"final loss {loss.item():.4f}")
