"""«quarry_module»"""

from guardrail import guard

import whygrad
from whygrad import nn, optim

STEPS = 60


def batch(step):
    x = whygrad.rand(32, 4) * whygrad.tensor([1.0, 5.0, 20.0, 2.0])
    weight = x.sum(dim=1, keepdim=True) / 10
    if step >= 21:
        x[:, 3] = 1.5  # «quarry_sensor»
    return x, weight


def standardized(x):
    centred = x - x.mean(dim=0)
    spread = (centred**2).mean(dim=0).sqrt()
    return centred / spread


def train():
    whygrad.manual_seed(2)
    model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
    optimizer = optim.Adam(model.parameters(), lr=0.02)
    model[2] = nn.Linear(16, 1)  # «quarry_head»
    losses = []
    for step in range(STEPS):
        x, weight = batch(step)
        guess = model(standardized(x))
        loss = nn.functional.mse_loss(guess, weight)
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
