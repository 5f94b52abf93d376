"""Gradients that are None although no value was cut off."""

from __future__ import annotations

from tests.why.situations.situation import Situation

__all__ = ["NONE"]

NONE = (
    Situation(
        "a parameter that the forward pass forgets",
        """
w = wg.ones(3, requires_grad=True)
bias = wg.zeros(3, requires_grad=True)
x = wg.tensor([1.0, 2.0, 3.0])
hidden = x * w
loss = hidden.square().sum()  # here
loss.backward()
""",
        "why_none(bias, loss)",
        "unused",
    ),
    Situation(
        "the generator, and a loss of the discriminator alone",
        """
generator = wg.tensor([0.5], requires_grad=True)
critic = wg.tensor([0.3], requires_grad=True)
score = (critic * generator).exp().sum()
(slope,) = wg.autograd.grad(score, critic)
with wg.no_grad():
    critic -= 0.1 * slope  # an update depends on everything, and is no path
loss = critic.square().sum()  # here
loss.backward()
""",
        "why_none(generator, loss)",
        "unused",
    ),
    Situation(
        "a weight that was made without requires_grad",
        """
w = wg.ones(3)
scale = wg.ones(3, requires_grad=True)
loss = (w * scale).sum()
loss.backward()
""",
        "why_none(w, loss)",
        "requires_grad is False",
    ),
    Situation(
        "a function of one's own that returns None",
        """
class Rounded(wg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, incoming):
        incoming * 1.0  # without a return

w = wg.tensor([0.4, 1.6], requires_grad=True)
loss = Rounded.apply(w).sum()  # here
loss.backward()  # here for torch
""",
        "why_none(w, loss)",
        "not computed",
    ),
    Situation(
        "the gradient of a hidden layer",
        """
w = wg.ones(3, requires_grad=True)
hidden = w * 2  # here
loss = hidden.square().sum()
loss.backward()
""",
        "why_none(hidden, loss)",
        "not retained",
    ),
    Situation(
        "requires_grad_() after the loss",
        """
w = wg.ones(3)
v = wg.ones(3, requires_grad=True)
loss = (w * v).sum()
w.requires_grad_()  # here
loss.backward()
""",
        "why_none(w, loss)",
        "created after",
    ),
    Situation(
        "an update that makes a new tensor",
        """
w = wg.ones(3, requires_grad=True)
for step in range(2):
    loss = w.square().sum()
    loss.backward()
    if step == 0:
        w = w - 0.1 * w.grad  # here
""",
        "why_none(w, loss)",
        "replaced",
    ),
    Situation(
        "the same update inside no_grad",
        """
w = wg.ones(3, requires_grad=True)
loss = w.square().sum()
loss.backward()
with wg.no_grad():
    w = w - 0.1 * w.grad  # here
loss = w.square().sum()
""",
        "why_none(w, loss)",
        "replaced",
    ),
    Situation(
        "backward() was never called",
        """
w = wg.ones(3, requires_grad=True)
loss = w.square().sum()  # here
""",
        "why_none(w, loss)",
        "not computed",
    ),
    Situation(
        "gradients cleared before they are read",
        """
w = wg.ones(3, requires_grad=True)
loss = w.square().sum()
loss.backward()  # here
w.grad = None
""",
        "why_none(w, loss)",
        "not computed",
    ),
)
