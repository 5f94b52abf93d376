"""A device from outside the package: register it, give it kernels, get gradients.

``Ledger`` pretends to be an accelerator with memory of its own.  No op is edited and no derivative
is written: the rules of the op table run on whatever kernels the device has.
"""

from collections import Counter

import numpy as np

import whygrad as wg
from whygrad import dispatch

launched = Counter()


class Ledger:
    """The device's memory.  All that whygrad asks of it is a shape and a dtype."""

    def __init__(self, cells):
        self.cells = np.array(cells)
        self.shape = self.cells.shape
        self.dtype = self.cells.dtype


dispatch.register_device(
    "ledger", Ledger, from_numpy=Ledger, to_numpy=lambda ledger: ledger.cells.copy()
)


@dispatch.register(wg.mul, "ledger")
def multiply(a, b):
    launched["multiply"] += 1
    return Ledger(getattr(a, "cells", a) * getattr(b, "cells", b))


@dispatch.register(wg.sum, "ledger")
def add_up(x, dim, keepdim):
    launched["add_up"] += 1
    return Ledger(x.cells.sum(axis=dim, keepdims=keepdim))


@dispatch.register(wg.expand, "ledger")
def spread(x, shape):
    launched["spread"] += 1
    return Ledger(np.broadcast_to(x.cells, shape))


price = wg.tensor([2.0, 3.0, 5.0]).to("ledger").requires_grad_()
amount = wg.tensor([10.0, 20.0, 30.0]).to("ledger")
total = (price * amount).sum()
print(f"total = {total.item():g}")
total.backward()
print(f"price.grad = {price.grad}")
print("kernels launched:", ", ".join(f"{name} {count}×" for name, count in launched.items()))

try:
    price.exp()
except RuntimeError as error:
    print(f"\nan op without a kernel:\n{error}")
