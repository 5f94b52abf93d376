"""«lighthouse_module»"""

from guardrail import guard

import whygrad
from whygrad import nn, optim

STEPS = 60


class Watch(nn.Module):
    def __init__(self):
        super().__init__()
        # «lighthouse_fix_graph»
        self.layers = nn.ModuleList([nn.Linear(5, 16), nn.Linear(16, 16)])
        self.head = nn.Linear(16, 1)

    def forward(self, readings):
        for layer in self.layers:
            readings = whygrad.relu(layer(readings))
        return self.head(readings)


def failure_loss(logits, failed):
    # «lighthouse_fix_numerical»
    return (nn.functional.softplus(logits) - failed * logits).mean()


def batch(step, wear):
    readings = whygrad.randn(32, 5)
    if step == 31:
        readings[::4] *= 5000  # «lighthouse_lightning»
    failed = (readings @ wear > 0).float()
    return readings, failed


def train():
    whygrad.manual_seed(5)
    wear = whygrad.randn(5, 1)
    model = Watch()
    optimizer = optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for step in range(STEPS):
        readings, failed = batch(step, wear)
        loss = failure_loss(model(readings), failed)
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
