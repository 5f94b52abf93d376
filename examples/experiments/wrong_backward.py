"""A custom backward that is wrong and works, for a while.

The swish x·σ(x) has the slope σ(x) + x·σ(x)·(1 − σ(x)).  Forget the second part and the direction
is about right, so the loss falls at first, and no number looks suspicious.  gradcheck sees it.
"""

from picture import draw

import whygrad as wg
from whygrad import nn, optim
from whygrad.autograd import Function, gradcheck


class Swish(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x.sigmoid()

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        s = x.sigmoid()
        return gradient * (s + x * s * (1 - s))


class HalfSwish(Swish):
    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * x.sigmoid()


def train(swish, steps=400):
    wg.manual_seed(0)
    first, second = nn.Linear(1, 16), nn.Linear(16, 1)
    x = wg.linspace(-2, 2, 64).unsqueeze(1)
    y = wg.sin(3 * x)
    optimizer = optim.SGD([*first.parameters(), *second.parameters()], lr=0.05, momentum=0.9)
    losses = []
    for _ in range(steps):
        loss = nn.functional.mse_loss(second(swish(2 * first(x))), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


right, wrong = train(Swish.apply), train(HalfSwish.apply)
print("step    right    wrong")
for step in (0, 20, 50, 100, 200, 210, 399):
    print(f"{step:4}   {right[step]:.4f}   {wrong[step]:.4f}")

x = wg.linspace(-2, 2, 5, dtype=wg.float64, requires_grad=True)
print(f"\ngradcheck of the right one: {gradcheck(Swish.apply, x)}")
try:
    gradcheck(HalfSwish.apply, x)
except RuntimeError as error:
    print(f"gradcheck of the wrong one:\n{error}")
draw(
    "wrong_backward.svg",
    {"right": right, "half of the slope": wrong},
    xlabel="step",
    ylabel="loss",
    title="Both learn, until one does not",
    log="y",
)
