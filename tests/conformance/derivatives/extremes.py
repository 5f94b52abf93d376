"""Sample calls with every number replaced by one of a kind: all equal, zero, huge, denormal, tied.

That is where a mean is off by one rounding, a root has no slope, and a difference of two large
numbers says nothing.  Each call runs on both libraries, with the products of fixed vectors with
its Jacobian and with its Hessian.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

import whygrad
from tests.conformance.harness import (
    Side,
    as_numpy,
    flatten,
    torch_function,
    torch_side,
    whygrad_side,
)
from whygrad.ops.define import Op
from whygrad.ops.samples import Call, Constant, samples_of

__all__ = ["ORDERS", "PATTERNS", "differences", "orders", "selected", "variants"]

Array = Any


def _alternating(shape: tuple[int, ...], first: float, second: float) -> Array:
    size = int(np.prod(shape))
    return np.where(np.arange(size) % 3 == 1, second, first).reshape(shape)


# Sums and products of these are exact in both libraries; of others PyTorch rounds some means, and
# ours must not be: ``test_equal_numbers_do_not_deviate``.
PATTERNS: dict[str, Callable[[tuple[int, ...], str], Array]] = {
    "equal": lambda shape, dtype: np.ones(shape),
    "zero": lambda shape, dtype: np.zeros(shape),
    "large": lambda shape, dtype: np.full(shape, 16384.0),
    "negative": lambda shape, dtype: np.full(shape, -16384.0),
    "opposite": lambda shape, dtype: _alternating(shape, 16384.0, -16384.0),
    "tied": lambda shape, dtype: _alternating(shape, 0.25, 0.75),
    "denormal": lambda shape, dtype: np.full(shape, 6 * float(np.finfo(dtype).smallest_subnormal)),
}

ORDERS = ("value", "gradient", "second derivative")


def selected(op: Op) -> bool:
    """Reductions, and everything that divides by a size or a sum."""
    return (
        op.torch != ""
        and op.differentiable
        and (
            op.kind == "reduction"
            or op.family in ("reduction", "normalization", "loss")
            or any(word in op.name for word in ("norm", "softm", "dist", "cosine"))
        )
    )


def variants(op: Op, pattern: str, dtype: str) -> Iterator[Call]:
    """The samples of an op whose floats all follow the pattern."""

    def fill(value: Any) -> Any:
        if isinstance(value, Constant):
            return Constant(fill(value.array))
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            return PATTERNS[pattern](value.shape, dtype)
        if isinstance(value, (list, tuple)):
            return type(value)(map(fill, value))
        return value

    for call in samples_of(op):
        kwargs = {name: fill(value) for name, value in call.kwargs.items()}
        yield Call(fill(call.args), kwargs, call.around)


def _weighted(values: list[Any], seed: int, library: Any) -> Any:
    """One number that depends on all of the values."""
    rng = np.random.default_rng(seed)
    total = None
    for value in values:
        if getattr(value, "requires_grad", False):
            weights = np.asarray(rng.uniform(0.5, 1.5, tuple(value.shape)))
            term = (value * library.from_numpy(weights.astype(as_numpy(value).dtype))).sum()
            total = term if total is None else total + term
    return total


def orders(side: Side, function: Callable[..., Any], library: Any) -> list[Any]:
    """The outputs, u·J for fixed u, and the derivative of u·J·v for fixed v.

    What fails ends the list with its exception.
    """
    found: list[Any] = []
    try:
        found.append(flatten(side.run(function)))
        for seed in (7, 8):
            total = _weighted(found[-1], seed, library)
            if total is None:
                break
            gradients = library.autograd.grad(
                total, side.inputs, create_graph=seed == 7, allow_unused=True
            )
            found.append(list(gradients))
    except Exception as error:
        found.append(error)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        value = value.detach().clone()  # a symbolic zero has no memory to show
    return None if value is None else as_numpy(value).astype("float64")


def differences(op: Op, call: Call, dtype: str) -> Iterator[tuple[str, str]]:
    """(which order, what differs) for every result that PyTorch answers differently.

    Derivatives that PyTorch does not have, or where it has no finite number, say nothing.  Whether
    a zero derivative is a tensor of zeros or None is another suite's question.
    """
    mine = orders(whygrad_side(call, dtype), op.public, whygrad)
    theirs = orders(torch_side(call, dtype), torch_function(op), torch)
    if isinstance(theirs[0], Exception):
        if not isinstance(mine[0], type(theirs[0])):
            yield "value", f"{mine[0]!r} against {theirs[0]!r}"
        return
    if isinstance(theirs[-1], Exception):
        theirs.pop()
        mine = mine[: len(theirs)]
    if isinstance(mine[-1], Exception):
        yield ORDERS[len(mine) - 1], repr(mine[-1])
        return
    rtol, atol = (1e-9, 1e-11) if dtype == "float64" else (2e-4, 2e-5)
    for position, word in enumerate(ORDERS[: max(len(mine), len(theirs))]):
        ours = mine[position] if position < len(mine) else [None] * len(theirs[position])
        given = theirs[position] if position < len(theirs) else [None] * len(ours)
        for number, (a, b) in enumerate(zip(map(_plain, ours), map(_plain, given), strict=True)):
            if a is None and b is None:
                continue
            a = np.zeros_like(b) if a is None else a
            b = np.zeros_like(a) if b is None else b
            if word != "value":
                a = np.where(np.isfinite(b), a, b)
            scale = np.max(np.abs(b[np.isfinite(b)]), initial=0.0)
            if not np.allclose(a, b, rtol, atol + rtol * scale, equal_nan=True):
                yield word, f"number {number}: {a.tolist()} against {b.tolist()}"
