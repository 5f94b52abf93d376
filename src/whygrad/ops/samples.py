"""Sample inputs for the op table.

``samples=lambda make: [make.call(make(3, 4), dim=1)]`` describes calls of the *public* function.
Float arrays become tensors that require grad (wrap in :meth:`Make.constant` if they should not);
integer and boolean arrays become plain tensors.  The conformance suite turns each call into
variants: other dtypes, non-contiguous, expanded and reversed memory, the meta device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.errors import fail

if TYPE_CHECKING:
    from whygrad.ops.define import Op

__all__ = ["Call", "Constant", "Make", "samples_of"]


class Call:
    """Arguments for one call of a public function."""

    def __init__(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        around: Callable[..., Any] | None = None,
    ) -> None:
        self.args = args
        self.kwargs = kwargs
        self.around = around

    def on(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """What to call with the arguments: the function, or what is wrapped around it."""
        if self.around is None:
            return function
        around = self.around
        return lambda *args, **kwargs: around(function, *args, **kwargs)

    def __repr__(self) -> str:
        def show(value: Any) -> str:
            if isinstance(value, Constant):
                return show(value.array)
            if isinstance(value, np.ndarray):
                return f"{value.dtype.name}{list(value.shape)}"
            if isinstance(value, (list, tuple)):
                return "[" + ", ".join(map(show, value)) + "]"
            return repr(value)

        parts = [show(arg) for arg in self.args]
        parts += [f"{name}={show(value)}" for name, value in self.kwargs.items()]
        return ", ".join(parts)


class Constant:
    """A float array that should not require grad."""

    def __init__(self, array: Any) -> None:
        self.array = array


class Make:
    """Draws reproducible arrays."""

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)

    def __call__(self, *shape: int, low: float = -2.0, high: float = 2.0) -> Any:
        """Uniform float64 numbers."""
        return np.asarray(self.rng.uniform(low, high, shape))

    def distinct(self, *shape: int, gap: float = 0.1) -> Any:
        """Numbers that differ pairwise by at least ``gap``: no ties for max, sort, median."""
        size = int(np.prod(shape))
        values = (np.arange(size) - size / 2 + 0.25) * gap
        return self.rng.permutation(values).reshape(shape)

    def ints(self, *shape: int, low: int = 0, high: int = 5) -> Any:
        return np.asarray(self.rng.integers(low, high, shape))

    def bools(self, *shape: int) -> Any:
        return np.asarray(self.rng.integers(0, 2, shape).astype(bool))

    def positive_definite(self, size: int, *batch: int) -> Any:
        root = self.rng.normal(size=(*batch, size, size))
        return root @ np.swapaxes(root, -1, -2) + size * np.eye(size)

    def constant(self, array: Any) -> Constant:
        return Constant(array)

    def pairs(self, low: float = -2.0, high: float = 2.0) -> list[Call]:
        """Calls with two tensors in every way of broadcasting."""
        return [
            self.call(self(*left, low=low, high=high), self(*right, low=low, high=high))
            for left, right in _BINARY_SHAPES
        ]

    def call(self, *args: Any, **kwargs: Any) -> Call:
        return Call(args, kwargs)

    def around(self, around: Callable[..., Any], *args: Any, **kwargs: Any) -> Call:
        """A call made as ``around(function, *args, **kwargs)``, on tensors of either library.

        For functions with freedom in their inputs or outputs: a matrix that must be symmetric, a
        factor that is unique only up to sign.
        """
        return Call(args, kwargs, around)


def samples_of(op: Op, seed: int = 0) -> list[Call]:
    """Every sample call of an op: its own, or automatic ones for elementwise ops."""
    make = Make(seed)
    if op.samples is not None:
        return list(op.samples(make))
    if op.kind == "elementwise" and not op.param_names:
        return list(_elementwise_samples(op, make))
    drawn = ["make(3, 4)"] * len(op.tensor_names)
    call = ", ".join([*drawn, *(f"{name}=…" for name in op.param_names)])
    raise fail(
        TypeError,
        call=f"the tests of op {op.signature}",
        cause="it has no samples, and which calls make sense is known of elementwise ops without "
        "parameters only",
        fix=f"samples=lambda make: [make.call({call})], with a call for each option, for "
        "broadcasting, and for 0-d and empty tensors",
        where=None,
    )


_UNARY_SHAPES = ((3, 4), (), (5,), (2, 1, 3), (0, 3))
_BINARY_SHAPES = (
    ((3, 4), (3, 4)), ((), ()), ((3, 4), (4,)), ((3, 1), (1, 4)), ((2, 3), ()), ((0, 3), (1, 3)),
)  # fmt: skip


def _elementwise_samples(op: Op, make: Make) -> Iterator[Call]:
    def draw(name: str, shape: tuple[int, ...]) -> Any:
        low, high = op.domain.get(name, (-2.0, 2.0))
        array = make(*shape, low=low, high=high)
        for kink in op.kinks.get(name, ()):  # stay clear of points without a derivative
            close = np.abs(array - kink) < 0.05
            array = np.where(close, kink + 0.1 * np.where(array < kink, -1.0, 1.0), array)
        return np.asarray(array)

    names = op.tensor_names
    shapes: Any = _UNARY_SHAPES if len(names) == 1 else _BINARY_SHAPES
    for combination in shapes:
        if len(names) == 1:
            yield make.call(draw(names[0], combination))
        else:
            padded = (*combination, combination[0])[: len(names)]
            yield make.call(*(draw(n, s) for n, s in zip(names, padded, strict=True)))
    if len(names) == 2:
        yield make.call(draw(names[0], (2, 3)), 1.5)
