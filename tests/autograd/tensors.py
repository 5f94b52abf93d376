"""Small tensors the tests of this folder start from."""

from __future__ import annotations

import whygrad as wg

__all__ = ["leaf", "scalar"]


def leaf(*values: float) -> wg.Tensor:
    return wg.tensor(list(values), dtype=wg.float64, requires_grad=True)


def scalar(value: float) -> wg.Tensor:
    return wg.tensor(value, dtype=wg.float64, requires_grad=True)
