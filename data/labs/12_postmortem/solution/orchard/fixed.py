"""«orchard_module»"""

from guardrail import guard

import whygrad
from whygrad import nn, optim

STEPS = 60


def batch(step):
    weight = 0.1 + 0.1 * whygrad.rand(32, 1)
    weight[:8] = 2.0  # «orchard_pumpkins»
    if step == 12:
        weight[3] = 300.0  # «orchard_giant»
    colour, firmness = whygrad.rand(32, 1), whygrad.rand(32, 1)
    ripe = (colour > firmness) | (weight > 1)
    return whygrad.cat([weight, colour, firmness], dim=1), ripe.float()


def cross_entropy(logits, target):
    # «orchard_fix_numerical»
    return nn.functional.binary_cross_entropy_with_logits(logits, target)


def train():
    whygrad.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = optim.SGD(model.parameters(), lr=0.2)
    losses = []
    for step in range(STEPS):
        x, ripe = batch(step)
        loss = cross_entropy(model(x), ripe)
        optimizer.zero_grad()  # «orchard_fix_graph»
        loss.backward()
        guard(step, model, loss)
        optimizer.step()
        losses.append(loss.item())
        if step % 5 == 0:
            print(step, losses[-1])
    return losses


if __name__ == "__main__":
    train()
