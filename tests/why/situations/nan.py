"""Losses and gradients that are not finite."""

from __future__ import annotations

from tests.why.situations.situation import Situation

__all__ = ["NAN"]

NAN = (
    Situation(
        "entropy with a probability of 0",
        """
p = wg.tensor([0.5, 0.5, 0.0], requires_grad=True)
logs = p.log()  # here
loss = -(p * logs).sum()
""",
        "why_nan(loss)",
        "forward",
    ),
    Situation(
        "cross entropy by hand, sure of the wrong class",
        """
w = wg.tensor([30.0, -30.0], requires_grad=True)
target = wg.tensor([1.0, 0.0])
p = wg.sigmoid(w)
chance = 1.0 - p
logs = chance.log()  # here
loss = -((1.0 - target) * logs + target * p.log()).mean()
""",
        "why_nan(loss)",
        "forward",
    ),
    Situation(
        "0/0: counts of nothing",
        """
w = wg.tensor([1.0, 2.0], requires_grad=True)
mask = wg.zeros(2)
mean = (w * mask).sum() / mask.sum()  # here
loss = mean.square()
""",
        "why_nan(loss)",
        "forward",
    ),
    Situation(
        "dividing by a norm of 0",
        """
w = wg.zeros(3, requires_grad=True)
unit = w / w.square().sum().sqrt()  # here
loss = (unit * wg.tensor([1.0, 2.0, 3.0])).sum()
""",
        "why_nan(loss)",
        "forward",
    ),
    Situation(
        "the slope of sqrt at 0",
        """
w = wg.zeros(3, requires_grad=True)
length = w.square().sum().sqrt()  # here
loss = (length - 1.0).square()
""",
        "why_nan(loss)",
        "backward",
    ),
    Situation(
        "a standard deviation of equal values",
        """
w = wg.ones(4, requires_grad=True)
centred = w - w.mean()
spread = centred.square().mean().sqrt()  # here
loss = spread * 2
""",
        "why_nan(loss)",
        "backward",
    ),
    Situation(
        "where() hides the value, not the slope",
        """
w = wg.tensor([0.0, 1.0, 4.0], requires_grad=True)
roots = w.sqrt()  # here
safe = wg.where(w > 0, roots, wg.zeros(3))
loss = safe.sum()
""",
        "why_nan(loss)",
        "backward",
    ),
    Situation(
        "softmax by hand",
        """
logits = wg.tensor([1.0, 50.0, 200.0], requires_grad=True)
powers = logits.exp()  # here
p = powers / powers.sum()
loss = -p.log()[0]
""",
        "why_nan(loss)",
        "forward",
    ),
    Situation(
        "a row of attention that is masked throughout",
        """
w = wg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
mask = wg.tensor([[False, True], [True, True]])
scores = w.masked_fill(mask, float("-inf"))
weights = scores.softmax(1)  # here
loss = weights.sum()
""",
        "why_nan(loss)",
        "forward",
    ),
    Situation(
        "the same in one line, whose inner value nobody keeps",
        """
w = wg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
mask = wg.tensor([[False, True], [True, True]])
weights = w.masked_fill(mask, float("-inf")).softmax(1)  # here
loss = weights.sum()
""",
        "why_nan(loss)",
        "undecided",
        in_torch="forward",  # the recording saw every value
    ),
    Situation(
        "the same, run again with every op watched",
        """
w = wg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
mask = wg.tensor([[False, True], [True, True]])

def loss():
    weights = w.masked_fill(mask, float("-inf")).softmax(1)  # here
    return weights.sum()
""",
        "why_nan(loss)",
        "forward",
        only="whygrad",
        because="PyTorch is watched by record()",
    ),
    Situation(
        "more than float16 can hold",
        """
w = wg.tensor([200.0, 300.0], dtype=wg.float16, requires_grad=True)
energy = w * w  # here
loss = (energy / 1000).sum()
""",
        "why_nan(loss)",
        "forward",
    ),
    Situation(
        "the root of a negative number",
        """
w = wg.tensor([-1.0, 2.0], requires_grad=True)
roots = w ** 0.5  # here
loss = roots.sum()
""",
        "why_nan(loss)",
        "forward",
    ),
    Situation(
        "the angle between parallel vectors",
        """
a = wg.tensor([1.0, 0.0], requires_grad=True)
b = wg.tensor([1.0, 0.0])
angle = (a * b).sum().acos()  # here
loss = angle.square()
""",
        "why_nan(loss)",
        "backward",
    ),
    Situation(
        "NaN in the data",
        """
x = wg.tensor([1.0, float("nan"), 3.0])  # here for torch
w = wg.ones(3, requires_grad=True)
loss = (w * x).sum()  # here
""",
        "why_nan(loss)",
        "given",
    ),
    Situation(
        "the mean of an empty selection",
        """
w = wg.tensor([0.2, 0.4], requires_grad=True)
large = w[w > 1.0]
loss = large.mean()  # here
""",
        "why_nan(loss)",
        "forward",
    ),
    Situation(
        "a batch in which every label is ignored",
        """
logits = wg.ones(2, 3, requires_grad=True)
labels = wg.tensor([-100, -100])
loss = F.cross_entropy(logits, labels)  # here
""",
        "why_nan(loss)",
        "forward",
    ),
    Situation(
        "the deviation of a single sample",
        """
w = wg.tensor([2.0], requires_grad=True)
spread = w.std()  # here
loss = spread + 1.0
""",
        "why_nan(loss)",
        "forward",
    ),
    Situation(
        "a learning rate that makes weights explode",
        """
w = wg.tensor([10.0, -10.0], requires_grad=True)
for step in range(40):
    error = (w.square() * 5).sum()
    error.backward()
    with wg.no_grad():
        w -= 10.0 * w.grad  # here
    w.grad = None
loss = (w.square() * 5).sum()
""",
        "why_nan(loss)",
        "given",
        in_torch="forward",  # the recording saw the update, which is in no graph
    ),
)
