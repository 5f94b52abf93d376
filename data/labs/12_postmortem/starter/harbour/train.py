"""«harbour_module»"""

from guardrail import guard

import whygrad
from whygrad import nn, optim

STEPS = 60


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(6, 24), nn.ReLU())
        self.head = nn.Linear(24, 4)

    def forward(self, signals):
        code = self.encoder(signals).detach()
        return self.head(code)


def cross_entropy(scores, pier):
    weights = whygrad.exp(scores)
    chances = weights / weights.sum(dim=1, keepdim=True)
    return -whygrad.log(chances[whygrad.arange(len(pier)), pier]).mean()


def batch(step, pattern):
    pier = whygrad.randint(0, 4, (32,))
    signals = pattern[pier] + 0.3 * whygrad.randn(32, 6)
    if step == 17:
        signals[5] *= 300  # «harbour_storm»
    return signals, pier


def train():
    whygrad.manual_seed(1)
    pattern = whygrad.randn(4, 6)
    model = Classifier()
    optimizer = optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for step in range(STEPS):
        signals, pier = batch(step, pattern)
        loss = cross_entropy(model(signals), pier)
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
