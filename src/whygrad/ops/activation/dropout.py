"""Dropout: noise that multiplies."""

from __future__ import annotations

import numpy as np

from whygrad.autograd.source import caller
from whygrad.errors import fail
from whygrad.ops.define import composite, elementwise, table
from whygrad.tensor import Tensor

__all__ = ["dropout", "dropout_"]

# A product by another name: the graph tells noise from other factors.
_drop = elementwise(
    "drop(x, noise)",
    "y = x·noise, with noise that dropout drew;  ∂y/∂x = noise",
    forward=np.multiply,
    vjp={"x": lambda xp, incoming, noise: incoming * noise},
    promote="same",
    internal=True,
    samples=lambda make: [
        make.call(make(3, 4), make.constant(make(3, 4))),
        make.call(make(), make.constant(make())),
        make.call(make(0, 3), make.constant(make(0, 3))),
    ],
)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Each element is 0 with probability ``p``, and the others grow so that the mean stays."""
    if not 0.0 <= p <= 1.0:
        raise fail(
            ValueError,
            call=f"dropout(x, p={p})",
            cause=f"dropout probability has to be between 0 and 1, but got {p}",
            fix="pass the share of elements to drop, such as 0.5",
            where=caller(),
        )
    if not training or p == 0.0:
        return input
    kept = table["bernoulli"].public(input.detach(), 1.0 - p)
    factor = kept / (1.0 - p) if p < 1.0 else kept
    if not inplace:
        dropped: Tensor = _drop.call(input, factor)
        return dropped
    from whygrad.ops.inplace import assign, check_writable, snapshot

    check_writable(input, "dropout_")
    return assign(input, _drop.call(snapshot(input, _drop), factor), "dropout_")


def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """Drop elements of ``input`` itself."""
    return dropout(input, p, train, inplace=True)


composite(
    dropout,
    "y = x·noise, noise 0 with probability p and 1/(1 − p) otherwise",
    torch="nn.functional.dropout",
    method=False,
    samples=lambda make: [
        make.call(make(3, 4), training=False),
        make.call(make(3, 4), 0.0),
        make.call(make(3, 4), 1.0),
        make.call(make(), p=1),
        make.call(make(0, 3), 0.5),
    ],
)
