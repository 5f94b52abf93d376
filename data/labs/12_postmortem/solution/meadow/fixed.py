"""«meadow_module»"""

from guardrail import guard

import whygrad
from whygrad import nn, optim

STEPS = 60


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(4, 20), nn.Tanh())
        self.rate = nn.Linear(20, 1)
        nn.init.constant_(self.rate.bias, 2.0)

    def forward(self, weather):
        code = self.encoder(weather)  # «meadow_fix_graph»
        return nn.functional.softplus(self.rate(code))  # «meadow_fix_numerical»


def poisson_loss(rate, count):
    return (rate - count * whygrad.log(rate)).mean()


def batch(step, sun):
    weather = whygrad.randn(32, 4)
    count = (whygrad.exp(1 + weather @ sun) + whygrad.rand(32, 1)).floor()
    return weather, count


def train():
    whygrad.manual_seed(4)
    sun = whygrad.tensor([[0.6], [-0.5], [0.3], [0.1]])
    model = Counts()
    optimizer = optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for step in range(STEPS):
        weather, count = batch(step, sun)
        loss = poisson_loss(model(weather), count)
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
