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
    p = whygrad.sigmoid(logits)
    gained = target * whygrad.log(p)
    missed = (1 - target) * whygrad.log(1 - p)
    return -(gained + missed).mean()


def train():
    whygrad.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = optim.SGD(model.parameters(), lr=0.2)
    losses = []
    for step in range(STEPS):
        x, ripe = batch(step)
        loss = cross_entropy(model(x), ripe)
        loss.backward()
        guard(step, model, loss)
        optimizer.step()
        losses.append(loss.item())
        if step % 5 == 0:
            print(step, losses[-1])
    return losses


if __name__ == "__main__":
    train()
