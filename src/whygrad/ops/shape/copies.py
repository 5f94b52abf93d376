"""Views as copies: ``diagonal_copy`` is ``diagonal`` with memory of its own.

They exist for programs that must not share memory.  One row per view says which it is and how it
is called; the function, its formula and its gradient follow from the view's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whygrad.ops.define import composite, table
from whygrad.ops.geometry import normalize_dim
from whygrad.ops.shape.parts import along, slice_view
from whygrad.tensor import Tensor
from whygrad.tensor.memory import contiguous_format

Samples = Callable[[Any], list[Any]]


def _alias(input: Tensor) -> Tensor:
    return input


def _as_complex(input: Tensor) -> Tensor:
    return table["view_as_complex"].public(input.contiguous())


def _slice(
    input: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Tensor:
    """The positions ``start:end:step`` of a dimension."""
    axis = normalize_dim(dim, input.ndim, "slice_copy")
    return slice_view(input, along(axis, slice(start, end, step)))


# View, the function that makes it if the table has none of that name, sample calls.
_VIEWS: tuple[tuple[str, Callable[..., Any] | None, Samples], ...] = (
    ("alias", _alias, lambda make: [make.call(make(2, 3))]),
    ("as_strided", None, lambda make: [make.call(make(2, 3), (3,), (2,), 1)]),
    ("diagonal", None, lambda make: [make.call(make(3, 4), 1), make.call(make(2, 3, 3), 0, 1, 2)]),
    ("expand", None, lambda make: [make.call(make(3, 1), (2, 3, 4))]),
    ("narrow", None, lambda make: [make.call(make(3, 4), 1, 1, 2)]),
    ("permute", None, lambda make: [make.call(make(2, 3, 4), (2, 0, 1))]),
    ("select", None, lambda make: [make.call(make(3, 4), 1, 2)]),
    ("slice", _slice, lambda make: [make.call(make(5, 2), 0, 1, 5, 2), make.call(make(3))]),
    ("split", None, lambda make: [make.call(make(4, 2), 2)]),
    ("split_with_sizes", None, lambda make: [make.call(make(2, 5), [1, 4], -1)]),
    ("squeeze", None, lambda make: [make.call(make(1, 3, 1)), make.call(make(1, 3, 1), 0)]),
    ("t", None, lambda make: [make.call(make(2, 3))]),
    ("transpose", None, lambda make: [make.call(make(2, 3, 4), 0, 2)]),
    ("unbind", None, lambda make: [make.call(make(2, 3), 1)]),
    ("unfold", None, lambda make: [make.call(make(6), 0, 3, 1)]),
    ("unsqueeze", None, lambda make: [make.call(make(2, 3), 1)]),
    ("view", None, lambda make: [make.call(make(3, 4), (2, 6))]),
    (
        "view_as_complex",
        _as_complex,
        lambda make: [make.around(lambda copy, x: copy(x).abs(), make(3, 2))],
    ),
    (
        "view_as_real",
        None,
        lambda make: [make.around(lambda copy, x: copy(x * (1 + 2j)), make(3))],
    ),
)


# PyTorch's do not fill ``out=`` of another size or stride, or have no derivative.
_OTHERWISE_IN_PYTORCH = ("narrow", "split", "view_as_complex")


def _declare(name: str, look: Callable[..., Any] | None, samples: Samples) -> None:
    def copied(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        seen = (look or table[name].public)(input, *args, **kwargs)
        if isinstance(seen, (tuple, list)):
            return tuple(each.clone(memory_format=contiguous_format) for each in seen)
        return seen.clone(memory_format=contiguous_format)

    copied.__name__ = copied.__qualname__ = f"{name}_copy"
    copied.__doc__ = f"``{name}``, with memory of its own."
    formula = f"y = what {name} shows, copied"
    torch = "" if name in _OTHERWISE_IN_PYTORCH else None
    composite(copied, formula, samples=samples, method=name == "narrow", torch=torch)


for _row in _VIEWS:
    _declare(*_row)


def detach_copy(input: Tensor) -> Tensor:
    """A copy outside the graph."""
    return input.detach().clone()


composite(
    detach_copy,
    "y = x copied, cut off from the graph",
    method=False,
    differentiable=False,
    samples=lambda make: [make.call(make.constant(make(2, 3)))],
)
