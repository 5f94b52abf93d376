"""Exploding gradients: one matrix, used again and again.

A recurrent network multiplies the gradient with the same matrix at every step of the sequence, and
its ReLUs let about half of it through.  Where the matrix stretches more than that, the gradient is
enormous after 60 steps, and one update with it throws the weights away.  Clipping the norm keeps
the direction and makes the step affordable.
"""

from picture import draw

import whygrad as wg
from whygrad import nn, optim
from whygrad.nn import functional as F

LENGTHS = (1, 10, 20, 30, 40, 50, 60)


def recurrent(gain):
    wg.manual_seed(0)
    model = nn.RNN(4, 16, nonlinearity="relu", batch_first=True)
    nn.init.orthogonal_(model.weight_hh_l0, gain)
    return model


def loss_of(model, length):
    wg.manual_seed(1)
    output, _ = model(wg.randn(8, length, 4))
    return F.mse_loss(output[:, -1], wg.ones(8, 16))


norms = {}
for gain in (1.0, 1.5, 2.0, 2.5):
    column = []
    for length in LENGTHS:
        model = recurrent(gain)
        loss_of(model, length).backward()
        column.append(nn.utils.get_total_norm([each.grad for each in model.parameters()]).item())
    norms[f"gain {gain}"] = (LENGTHS, column)
    print(f"gain {gain}: gradient norm", "  ".join(f"{norm:.1e}" for norm in column))


def train(clip):
    model = recurrent(2.0)
    optimizer = optim.SGD(model.parameters(), lr=0.01)
    losses = []
    for _ in range(30):
        loss = loss_of(model, 40)
        optimizer.zero_grad()
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


plain, clipped = train(clip=False), train(clip=True)
print(f"\ntraining as it is:      loss {plain[0]:.1e}, then {plain[1]:.1e}, then {plain[2]:.1e}")
print(f"with the norm clipped:  loss {clipped[0]:.1e}, after 30 steps {clipped[-1]:.1e}")
draw(
    "exploding_gradients.svg",
    norms,
    xlabel="length of the sequence",
    ylabel="norm of the gradient",
    title="The same matrix at every step",
    log="y",
)
