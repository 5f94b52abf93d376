"""Sums, products and their relatives."""

from __future__ import annotations

import numpy as np

from whygrad.ops.define import elementwise

elementwise(
    "add(a, b)",
    "y = a + b;  ∂y/∂a = 1,  ∂y/∂b = 1",
    forward=np.add,
    vjp={"a": lambda xp, incoming: incoming, "b": lambda xp, incoming: incoming},
    promote="same",
)
elementwise(
    "mul(a, b)",
    "y = a·b;  ∂y/∂a = b,  ∂y/∂b = a",
    forward=np.multiply,
    vjp={
        "a": lambda xp, incoming, b: incoming * b,
        "b": lambda xp, incoming, a: incoming * a,
    },
    promote="same",
    inplace=True,
)
