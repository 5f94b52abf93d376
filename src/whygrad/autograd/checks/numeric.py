"""Finite differences of functions on tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from whygrad.errors import fail
from whygrad.tensor import Tensor, modes, wrap

__all__ = ["Function", "central_difference", "quotients", "require_same"]


class Function:
    """A user's function, seen as a map from the inputs that require grad to its float outputs."""

    def __init__(self, func: Callable[..., Any], arguments: list[Any]) -> None:
        self.func = func
        self.arguments = arguments
        self.positions = [
            position
            for position, each in enumerate(arguments)
            if isinstance(each, Tensor) and each.requires_grad
        ]
        self.values = [np.array(arguments[each]._array) for each in self.positions]

    def call(self, replacements: list[Tensor]) -> list[Tensor]:
        """Run with the differentiable inputs replaced."""
        arguments = list(self.arguments)
        for position, replacement in zip(self.positions, replacements, strict=True):
            arguments[position] = replacement
        return self.call_on(arguments)

    def call_on(self, arguments: Any) -> list[Tensor]:
        outputs = list(_flatten(self.func(*arguments)))
        if not outputs or any(out.dtype.is_complex for out in outputs):
            returned = "complex numbers" if outputs else "no tensor"
            raise fail(
                TypeError,
                call="a gradient check",
                cause=f"the function returned {returned}: there is no gradient to check",
                fix="return real tensors, such as the real and the imaginary part",
            )
        return [out for out in outputs if out.dtype.is_floating_point]

    def recorded(self) -> tuple[list[Tensor], list[Tensor]]:
        """Float outputs and the fresh leaves they were computed from."""
        leaves = [wrap(value.copy()).requires_grad_() for value in self.values]
        return self.call(leaves), leaves

    def plain(self, values: list[Any]) -> list[Any]:
        """Raw outputs for raw inputs, as copies."""
        with modes.enable_grad():
            outputs = self.call([wrap(np.array(value)) for value in values])
        return [np.array(out._array) for out in outputs]


def _flatten(result: Any) -> Iterator[Tensor]:
    if isinstance(result, Tensor):
        yield result
    elif isinstance(result, (tuple, list)):
        for each in result:
            yield from _flatten(each)


def central_difference(function: Function, eps: float) -> list[list[Any]]:
    """Jacobians by (f(x + eps) − f(x − eps)) / 2 eps, one per input and output.

    Rows are elements of the input, columns elements of the output.
    """
    jacobian: list[list[Any]] = []
    sizes = [out.size for out in function.plain(function.values)]
    for i, value in enumerate(function.values):
        rows: list[list[Any]] = []
        for element in range(value.size):
            shifted = []
            for step in (eps, -eps):
                values = list(function.values)
                moved = value.copy()
                moved.reshape(-1)[element] += step
                values[i] = moved
                shifted.append(function.plain(values))
            rows.append([each.reshape(-1) for each in quotients(shifted, eps)])
        for row in rows:
            require_same(sizes, [each.size for each in row])
        jacobian.append(
            [
                np.array([row[o] for row in rows]).reshape(value.size, size)
                for o, size in enumerate(sizes)
            ]
        )
    return jacobian


def quotients(shifted: list[list[Any]], eps: float) -> list[Any]:
    """The difference quotient of each output, from all outputs above and below the point."""
    above, below = shifted
    require_same([each.shape for each in above], [each.shape for each in below])
    return [(more - less) / (2 * eps) for more, less in zip(above, below, strict=True)]


def require_same(shapes: list[Any], others: list[Any]) -> None:
    """Refuse a function whose outputs change their shape with the numbers of its inputs."""
    if shapes != others:
        raise fail(
            AssertionError,
            call="a gradient check",
            cause="Expected `func` to return outputs with the same shape when inputs are perturbed,"
            f" but got: shapes {shapes} and {others}. Where the shape changes there is no "
            "derivative",
            fix="check the function at a point around which its shape stays, or fix what it draws",
        )
