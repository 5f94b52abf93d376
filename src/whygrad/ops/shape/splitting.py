"""One tensor into several views of it.

``split``, ``chunk`` and ``unbind`` are one node with several outputs: its rule receives a list of
gradients, None for the outputs nobody used, and puts them together in one go.
"""

from __future__ import annotations

import operator
from itertools import accumulate
from typing import Any

from whygrad.dispatch.arguments import also_named
from whygrad.errors import describe, fail
from whygrad.ops.batching import shift_dims
from whygrad.ops.define import alias, composite, define
from whygrad.ops.geometry import normalize_dim
from whygrad.ops.shape.parts import along, slice_view
from whygrad.tensor import Tensor

Array = Any
Shape = tuple[int, ...]


def _filled(xp: Any, incoming: list[Any], shapes: list[Shape]) -> list[Array]:
    """The incoming gradients with zeros for the outputs that got none."""
    present = next(each for each in incoming if each is not None)
    return [
        xp.new_zeros(present, shape) if each is None else each
        for each, shape in zip(incoming, shapes, strict=True)
    ]


def _split(x: Array, split_sizes: Shape, dim: int) -> tuple[Array, ...]:
    pieces, start = [], 0
    for size in split_sizes:
        pieces.append(x[along(dim, slice(start, start + size))])
        start += size
    return tuple(pieces)


def _split_rule(
    xp: Any, incoming: list[Any], x_shape: Shape, split_sizes: Shape, dim: int
) -> Array:
    shapes = [(*x_shape[:dim], size, *x_shape[dim + 1 :]) for size in split_sizes]
    return xp.cat(_filled(xp, incoming, shapes), dim)


def _split_sizes_args(input: Tensor, split_sizes: Any, dim: int = 0) -> Any:
    """Pieces of the given sizes along a dimension."""
    dim = _splittable(input, dim, "split")
    sizes = tuple(operator.index(size) for size in split_sizes)
    length = input.shape[dim]
    problem = None
    if any(size < 0 for size in sizes):
        problem = "have only non-negative entries"
    elif sum(sizes) != length:
        problem = f"to sum exactly to {length} (input tensor's size at dimension {dim})"
    if problem:
        raise _cannot_split(
            input, f"split_with_sizes expects split_sizes {problem}, but got "
            f"split_sizes={list(sizes)}", f"choose sizes that add up to {length}",
        )  # fmt: skip
    return input, sizes, dim


def _splittable(input: Tensor, dim: int, call: str) -> int:
    if input.ndim == 0:
        raise _cannot_split(
            input, f"{call} expects at least a 1-dimensional tensor", "unsqueeze(0) it first"
        )
    return normalize_dim(dim, input.ndim, call)


def _cannot_split(input: Tensor, cause: str, fix: str) -> RuntimeError:
    return fail(RuntimeError, call=f"splitting {describe(input)}", cause=cause, fix=fix)


split_with_sizes = define(
    "split_with_sizes(x; split_sizes, dim)",
    "y₁, y₂, … = pieces of x along dim, same memory;  ∂x = the pieces of incoming joined",
    outputs=("*pieces",),
    forward=_split,
    vjp={"x": _split_rule},
    kind="view",
    linear=True,
    batching=shift_dims("dim"),
    public=_split_sizes_args,
    torch="Tensor.split_with_sizes",
    samples=lambda make: [
        make.call(make(5, 2), [2, 3]),
        make.call(make(2, 5), [1, 0, 4], -1),
        make.call(make(3), [3]),
    ],
).public


@also_named(split_size="split_size_or_sections")
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Pieces of one size (the last may be smaller), or of a list of sizes."""
    if isinstance(split_size_or_sections, (list, tuple)):
        return split_with_sizes(tensor, split_size_or_sections, dim)
    size = operator.index(split_size_or_sections)
    dim = _splittable(tensor, dim, "split")
    length = tensor.shape[dim]
    if size < 0 or (size == 0 and length):
        raise _cannot_split(
            tensor, f"split expects split_size be non-negative, but got split_size={size}"
            if size else "split_size can only be 0 if dimension size is 0, but got dimension "
            f"size of {length}", "choose a size of at least 1",
        )  # fmt: skip
    return split_with_sizes(tensor, _equal_sizes(length, size), dim)


def _equal_sizes(length: int, size: int) -> list[int]:
    if length == 0:
        return [0]
    return [min(size, length - start) for start in range(0, length, size)]


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most ``chunks`` pieces of one size (the last may be smaller)."""
    dim = _splittable(input, dim, "chunk")
    if chunks <= 0:
        raise _cannot_split(
            input, f"chunk expects `chunks` to be greater than 0, got: {chunks}",
            "ask for at least one chunk",
        )  # fmt: skip
    length = input.shape[dim]
    sizes = _equal_sizes(length, -(-length // chunks)) if length else [0] * chunks
    return split_with_sizes(input, sizes, dim)


_also_split = also_named(
    indices="indices_or_sections", sections="indices_or_sections",
    tensor_indices_or_sections="indices_or_sections",
)  # fmt: skip


@_also_split
def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """A number of nearly equal pieces, or pieces that begin at the given indices."""
    if input.ndim == 0:
        raise _cannot_split(
            input, "tensor_split expected at least a 1-dimensional tensor, but got a tensor with "
            "0 dims", "unsqueeze(0) it first",
        )  # fmt: skip
    dim = normalize_dim(dim, input.ndim, "tensor_split")
    if isinstance(indices_or_sections, Tensor):
        indices_or_sections = indices_or_sections._array.tolist()
    if not isinstance(indices_or_sections, (list, tuple)):
        sizes = _near_equal_sizes(input, indices_or_sections, dim)
        indices_or_sections = list(accumulate(sizes))[:-1]
    edges = [*indices_or_sections, None]
    return tuple(
        slice_view(input, along(dim, slice(start, stop)))
        for start, stop in zip([0, *indices_or_sections], edges, strict=True)
    )


def _near_equal_sizes(input: Tensor, sections: int, dim: int) -> list[int]:
    if sections <= 0:
        raise _cannot_split(
            input, f"number of sections must be larger than 0, got {sections}",
            "ask for at least one section",
        )  # fmt: skip
    size, larger = divmod(input.shape[dim], sections)
    return [size + 1] * larger + [size] * (sections - larger)


@_also_split
def hsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Split along dimension 1, or 0 for vectors."""
    return _split_exactly(input, indices_or_sections, 0 if input.ndim == 1 else 1, 1, "hsplit")


@_also_split
def vsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Split along dimension 0."""
    return _split_exactly(input, indices_or_sections, 0, 2, "vsplit")


@_also_split
def dsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Split along dimension 2."""
    return _split_exactly(input, indices_or_sections, 2, 3, "dsplit")


def _split_exactly(
    input: Tensor, where: Any, dim: int, needed: int, call: str
) -> tuple[Tensor, ...]:
    if input.ndim < needed:
        raise _cannot_split(
            input, f"{call} requires a tensor with at least {needed} dimension, but got a tensor "
            f"with {input.ndim} dimensions", "add dimensions with unsqueeze()",
        )  # fmt: skip
    if isinstance(where, int) and (where <= 0 or input.shape[dim] % where):
        raise _cannot_split(
            input, f"{call} attempted to split along dimension {dim}, but the size of the "
            f"dimension {input.shape[dim]} is not divisible by the split_size {where}",
            "use tensor_split() for pieces of different sizes",
        )  # fmt: skip
    return tensor_split(input, where, dim)


def _unbind(x: Array, dim: int) -> tuple[Array, ...]:
    return tuple(x[(*along(dim, place), Ellipsis)] for place in range(x.shape[dim]))


def _unbind_args(input: Tensor, dim: int = 0) -> Any:
    """All positions of a dimension, one tensor each."""
    if input.ndim == 0:
        raise fail(
            IndexError,
            call=f"unbind({describe(input)}, dim={dim})",
            cause=f"Dimension specified as {dim} but tensor has no dimensions",
            fix="a 0-d tensor cannot be taken apart; use it as it is",
        )
    return input, normalize_dim(dim, input.ndim, "unbind")


unbind = define(
    "unbind(x; dim)",
    "y₁, y₂, … = x at each position of dim, same memory;  ∂x = the pieces of incoming stacked",
    outputs=("*pieces",),
    forward=_unbind,
    vjp={
        "x": lambda xp, incoming, x_shape, dim: xp.stack(
            _filled(xp, incoming, [x_shape[:dim] + x_shape[dim + 1 :]] * x_shape[dim]), dim
        )
    },
    kind="view",
    linear=True,
    batching=shift_dims("dim"),
    public=_unbind_args,
    samples=lambda make: [
        make.call(make(2, 3)),
        make.call(make(2, 3), -1),
        make.call(make(3)),
        make.call(make(1, 2)),
    ],
).public

composite(
    split,
    "y₁, y₂, … = pieces of x along dim, same memory",
    samples=lambda make: [
        make.call(make(5, 2), 2),
        make.call(make(2, 5), [1, 4], dim=1),
        make.call(make(0, 2), 3),
    ],
)
composite(
    chunk,
    "y₁, y₂, … = pieces of equal size, same memory",
    samples=lambda make: [
        make.call(make(5, 2), 3),
        make.call(make(2, 6), 4, -1),
        make.call(make(0, 2), 2),
    ],
)
composite(
    tensor_split,
    "y₁, y₂, … = nearly equal pieces, or pieces from index to index, same memory",
    samples=lambda make: [
        make.call(make(7), 3),
        make.call(make(2, 7), (2, 5), dim=1),
        make.call(make(7), (5, 2)),
        make.call(make(7), (-2, 9)),
    ],
)
composite(
    hsplit,
    "y₁, y₂, … = pieces of x from left to right, same memory",
    samples=lambda make: [make.call(make(4), 2), make.call(make(2, 4), [1])],
)
composite(
    vsplit,
    "y₁, y₂, … = pieces of x from top to bottom, same memory",
    samples=lambda make: [make.call(make(4, 2), 2)],
)
composite(
    dsplit,
    "y₁, y₂, … = pieces of x along the third dimension, same memory",
    samples=lambda make: [make.call(make(2, 1, 4), 2)],
)
alias("unsafe_chunk", "chunk")
alias("unsafe_split", "split")
alias("unsafe_split_with_sizes", "split_with_sizes")
