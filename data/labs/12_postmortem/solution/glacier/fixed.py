"""«glacier_module»"""

from guardrail import guard

import whygrad
from whygrad import nn, optim

STEPS = 60


class Distance(nn.Module):
    def __init__(self):
        super().__init__()
        self.place = nn.Linear(5, 2, bias=False)
        self.scale = nn.Parameter(whygrad.tensor(1.0))

    def forward(self, one, other):
        gap = self.place(one) - self.place(other)
        length = ((gap**2).sum(dim=1) + 1e-12).sqrt()  # «glacier_fix_numerical»
        return self.scale * length  # «glacier_fix_graph»


def batch(step, true_place):
    one, other = whygrad.randn(32, 5), whygrad.randn(32, 5)
    if step == 26:
        other[3] = one[3]  # «glacier_same»
    apart = ((one - other) @ true_place).norm(dim=1)
    return one, other, apart


def train():
    whygrad.manual_seed(3)
    true_place = 0.7 * whygrad.randn(5, 2)
    model = Distance()
    optimizer = optim.Adam(model.parameters(), lr=0.05)
    losses = []
    for step in range(STEPS):
        one, other, apart = batch(step, true_place)
        loss = nn.functional.mse_loss(model(one, other), apart)
        optimizer.zero_grad()
        loss.backward()
        guard(step, model, loss)
        optimizer.step()
        losses.append(loss.item())
        if step % 5 == 0:
            print(step, losses[-1])
    return losses


if __name__ == "__main__":
    train()
