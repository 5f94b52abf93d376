"""hidden += residual: the value that backward needed is gone.

whygrad notices by the version of the memory and names both lines, also for a write through .data.
A write by NumPy into the same memory escapes every check: then training goes on with a wrong
gradient, and nothing tells.
"""

from picture import draw

import whygrad as wg
from whygrad import nn

wg.manual_seed(0)
layer = nn.Linear(8, 8, dtype=wg.float64)
x = wg.randn(32, 8, dtype=wg.float64)
residual = wg.randn(32, 8, dtype=wg.float64)


def out_of_place():
    hidden = layer(x).exp()  # backward of exp needs its result
    hidden = hidden + residual
    return hidden.square().mean()


def in_place():
    hidden = layer(x).exp()
    hidden += residual
    return hidden.square().mean()


def behind_the_back():
    hidden = layer(x).exp()
    hidden.detach().numpy()[...] += residual.numpy()
    return hidden.square().mean()


def gradient(loss_of):
    layer.zero_grad()
    loss_of().backward()
    return layer.weight.grad.flatten()


try:
    gradient(in_place)
except RuntimeError as error:
    print(f"hidden += residual\n\n{error}\n")

right, wrong = gradient(out_of_place), gradient(behind_the_back)
print(f"loss: {out_of_place().item():.6f} and {behind_the_back().item():.6f}, the same")
print(f"gradient after the write by NumPy: {(wrong - right).norm() / right.norm():.0%} off")
order = right.argsort()
draw(
    "unsafe_in_place.svg",
    {
        "hidden = hidden + residual": right[order].tolist(),
        "written by NumPy": wrong[order].tolist(),
    },
    xlabel="weight, by its gradient",
    ylabel="gradient",
    title="Same loss, another gradient",
)
