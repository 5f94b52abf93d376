"""Copies in another order, or several times over."""

from __future__ import annotations

import operator
from math import prod
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import align, shift, shift_dims
from whygrad.ops.define import composite, define, table
from whygrad.ops.geometry import normalize_dim, normalize_dims, shape_from
from whygrad.ops.shape.axes import transpose
from whygrad.ops.shape.reshaping import flatten
from whygrad.ops.shape.views import clone, expand, unsqueeze
from whygrad.tensor import Tensor, wrap
from whygrad.tensor.memory import contiguous_format, is_dense

Array = Any
Shape = tuple[int, ...]


def _refuse(call: str, input: Tensor, cause: str, fix: str) -> RuntimeError:
    return fail(RuntimeError, call=f"{call}({describe(input)})", cause=cause, fix=fix)


def _interleaved(repeats: Shape, shape: Shape) -> Shape:
    """Sizes as (repeat, size, repeat, size, …), the shape padded with ones in front."""
    padded = (1,) * (len(repeats) - len(shape)) + tuple(shape)
    return tuple(each for pair in zip(repeats, padded, strict=True) for each in pair)


def _repeated_shape(shape: Shape, repeats: Shape) -> Shape:
    pairs = _interleaved(repeats, shape)
    return tuple(count * size for count, size in zip(pairs[::2], pairs[1::2], strict=True))


def _repeat(x: Array, repeats: Shape) -> Array:
    pairs = _interleaved(repeats, x.shape)
    spaced = x.reshape(tuple(size if place % 2 else 1 for place, size in enumerate(pairs)))
    return np.broadcast_to(spaced, pairs).copy().reshape(_repeated_shape(x.shape, repeats))


def _repeat_rule(xp: Any, incoming: Array, x_shape: Shape, repeats: Shape) -> Array:
    copies = xp.reshape(incoming, _interleaved(repeats, x_shape))
    return xp.reshape(xp.sum(copies, tuple(range(0, copies.ndim, 2)), False), x_shape)


def _repeat_args(input: Tensor, *sizes: Any, repeats: Any = None) -> Any:
    """Copies of the whole tensor, side by side along each dimension."""
    counts = shape_from(sizes if repeats is None else (repeats,))
    if len(counts) < input.ndim:
        raise _refuse(
            "repeat", input, "Number of dimensions of repeat dims can not be smaller than number "
            "of dimensions of tensor", f"give {input.ndim} numbers, or use tile()",
        )  # fmt: skip
    if any(count < 0 for count in counts):
        raise _refuse(
            "repeat", input, "Trying to create tensor with negative dimension "
            f"(repeats {list(counts)})", "repeat 0 or more times",
        )  # fmt: skip
    return input, counts


repeat = define(
    "repeat(x; repeats)",
    "y = copies of x side by side;  ∂x = Σ incoming over the copies",
    forward=_repeat,
    vjp={"x": _repeat_rule},
    linear=True,
    meta=lambda x, repeats: (_repeated_shape(x.shape, repeats), x.dtype),
    batching=lambda xp, x, repeats: xp.repeat(align(x, len(repeats)), (1, *repeats)),
    public=_repeat_args,
    torch="Tensor.repeat",
    samples=lambda make: [
        make.call(make(2, 3), 2, 1),
        make.call(make(2), (3, 2)),
        make.call(make(2, 3), 1, 1),
        make.call(make(), 3),
        make.call(make(2, 3), 0, 2),
        make.call(make(0, 3), 2, 2),
    ],
).public


def tile(input: Tensor, *dims: Any) -> Tensor:
    """``repeat`` that fills up missing numbers with ones in front."""
    counts = shape_from(dims)
    return repeat(input, (*(1,) * (input.ndim - len(counts)), *counts))


composite(
    tile,
    "y = copies of x side by side",
    samples=lambda make: [make.call(make(2, 3), (2,)), make.call(make(2), (2, 2))],
)


def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: Any = None, *, output_size: int | None = None
) -> Tensor:
    """Each element (or each position of ``dim``) several times in a row."""
    if repeats is None:
        return wrap(_repeated_positions(input, input, input.numel()))
    if dim is None:
        input, dim = flatten(input), 0
    dim = normalize_dim(dim, input.ndim, "repeat_interleave")
    if isinstance(repeats, Tensor) and repeats.numel() == 1:
        repeats = repeats.item()
    if isinstance(repeats, Tensor):
        positions = _repeated_positions(input, repeats, input.shape[dim])
        _check_output_size(input, output_size, positions.size)
        return table["index_select"].public(input, dim, wrap(positions))
    count = operator.index(repeats)
    if count < 0:
        raise _refuse(
            "repeat_interleave", input, "Repeats must be non-negative", "repeat 0 or more times"
        )
    _check_output_size(input, output_size, input.shape[dim] * count)
    shape = tuple(input.shape)
    copies = expand(unsqueeze(input, dim + 1), (*shape[: dim + 1], count, *shape[dim + 1 :]))
    return flatten(clone(copies, memory_format=contiguous_format), dim, dim + 1)


def _check_output_size(input: Tensor, expected: int | None, actual: int) -> None:
    if expected is not None and expected != actual:
        raise _refuse(
            "repeat_interleave", input, "allocated size does not match required size: "
            f"output_size={expected}, but the repeats add up to {actual}", "leave output_size out",
        )  # fmt: skip


def _repeated_positions(input: Tensor, counts: Tensor, length: int) -> Array:
    if counts.device.type == "meta":
        raise _refuse(
            "repeat_interleave", input, "the shape of the result depends on the data of repeats",
            "keep repeats on cpu, or repeat by one number",
        )  # fmt: skip
    repeats = counts._array
    if repeats.shape != (length,):
        raise _refuse(
            "repeat_interleave", input, "repeats must have the same size as input along dim, but "
            f"got repeats of shape {list(repeats.shape)} and input size {length}",
            "give one number per position",
        )  # fmt: skip
    if (repeats < 0).any():
        raise _refuse(
            "repeat_interleave", input, "repeats can not be negative", "repeat 0 or more times"
        )
    return np.repeat(np.arange(length), repeats)


composite(
    repeat_interleave,
    "y = each element of x several times in a row",
    samples=lambda make: [
        make.call(make(3), 2),
        make.call(make(2, 3), 2, dim=1),
        make.call(make(2, 3), 1, dim=0),
        make.call(make(2, 3), np.array([1, 2]), dim=0),
        make.call(make(2, 3), np.array([2]), dim=-1),
        make.call(np.array([1, 0, 2])),
        make.call(make(), 2),
    ],
)


def _flip(x: Array, dims: Shape) -> Array:
    return np.flip(x, dims).copy(order="K" if is_dense(x) else "C")


def _flip_args(input: Tensor, *dims: Any) -> Any:
    """A copy with the order of elements reversed along the given dimensions."""
    return input, normalize_dims(shape_from(dims), input.ndim, "flip") if input.ndim else ()


flip = define(
    "flip(x; dims)",
    "y = x backwards along dims;  ∂x = incoming backwards along dims",
    forward=_flip,
    vjp={"x": lambda xp, incoming, dims: xp.flip(incoming, dims)},
    linear=True,
    meta=lambda x, dims: (x.shape, x.dtype),
    batching=shift_dims("dims"),
    public=_flip_args,
    samples=lambda make: [
        make.call(make(2, 3), (0,)),
        make.call(make(2, 3), dims=(-1, 0)),
        make.call(make(2, 3), ()),
        make.call(make(0, 3), (0,)),
    ],
).public


def fliplr(input: Tensor) -> Tensor:
    """Left becomes right: reversed along dimension 1."""
    return flip(_with_dims(input, 2, "fliplr"), (1,))


def flipud(input: Tensor) -> Tensor:
    """Top becomes bottom: reversed along dimension 0."""
    return flip(_with_dims(input, 1, "flipud"), (0,))


def _with_dims(input: Tensor, needed: int, call: str) -> Tensor:
    if input.ndim < needed:
        raise _refuse(
            call, input, f"Input must be >= {needed}-d.", "add dimensions with unsqueeze()"
        )
    return input


composite(fliplr, "y = x from right to left", samples=lambda make: [make.call(make(2, 3))])
composite(
    flipud,
    "y = x from bottom to top",
    samples=lambda make: [make.call(make(2, 3)), make.call(make(3))],
)


def _roll_args(input: Tensor, shifts: Any, dims: Any = ()) -> Any:
    """Elements moved on along dimensions; those pushed out at the end come in at the start."""
    moves = shape_from((shifts,))
    dims = () if dims is None else shape_from((dims,))
    if not moves:
        raise _refuse("roll", input, "`shifts` required", "say how far to move")
    if len(moves) != len(dims) and (dims or len(moves) > 1):
        raise _refuse(
            "roll", input, "shifts and dimensions must align. "
            f"shifts: {len(moves)}, dims:{len(dims)}", "give one shift per dimension",
        )  # fmt: skip
    if dims and input.ndim == 0:
        raise fail(
            IndexError,
            call=f"roll({describe(input)}, dims={dims})",
            cause=f"Dimension specified as {dims[0]} but tensor has no dimensions",
            fix="leave dims out",
        )
    return input, moves, tuple(normalize_dim(dim, input.ndim, "roll") for dim in dims)


def _roll(x: Array, shifts: Shape, dims: Shape) -> Array:
    return np.asarray(np.roll(x, shifts, dims) if dims else np.roll(x, shifts[0]), order="C")


def _roll_of_batch(xp: Any, x: Array, shifts: Shape, dims: Shape, batch: int) -> Array:
    if dims:
        return xp.roll(x, shifts, shift(dims))
    flat = xp.reshape(x, (batch, prod(x.shape[1:])))
    return xp.reshape(xp.roll(flat, shifts, (1,)), x.shape)


define(
    "roll(x; shifts, dims)",
    "y = x moved on along dims, in a circle;  ∂x = incoming moved back",
    forward=_roll,
    vjp={
        "x": lambda xp, incoming, shifts, dims: xp.roll(
            incoming, tuple(-shift for shift in shifts), dims
        )
    },
    linear=True,
    meta=lambda x, shifts, dims: (x.shape, x.dtype),
    batching=_roll_of_batch,
    public=_roll_args,
    samples=lambda make: [
        make.call(make(2, 3), 1),
        make.call(make(2, 3), -1, 1),
        make.call(make(2, 3), (1, 5), (0, -1)),
        make.call(make(3), (1, 1), (0, 0)),
        make.call(make(), 1),
        make.call(make(0, 2), 1, 0),
    ],
)


def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """Turn by k quarter turns in the plane of two dimensions, from the first to the second."""
    if len(dims) != 2:
        raise _refuse(
            "rot90", input, f"expected total rotation dims == 2, but got dims = {len(dims)}",
            "name the two dimensions of the plane",
        )  # fmt: skip
    if input.ndim < 2:
        raise _refuse(
            "rot90", input, f"expected total dims >= 2, but got total dims = {input.ndim}",
            "add dimensions with unsqueeze()",
        )  # fmt: skip
    first, second = (normalize_dim(dim, input.ndim, "rot90") for dim in dims)
    if first == second:
        raise _refuse(
            "rot90", input, "expected rotation dims to be different, but got "
            f"dim0 = {dims[0]} and dim1 = {dims[1]}", "name two different dimensions",
        )  # fmt: skip
    turns = operator.index(k) % 4
    if turns == 0:
        return clone(input, memory_format=contiguous_format)
    if turns == 2:
        return flip(input, (first, second))
    return transpose(flip(input, (second if turns == 1 else first,)), first, second)


composite(
    rot90,
    "y = x turned by quarter turns",
    samples=lambda make: [
        make.call(make(2, 3)),
        make.call(make(2, 3), 2),
        make.call(make(2, 3), -1),
        make.call(make(2, 3), 4),
        make.call(make(2, 3, 2), 1, (2, 0)),
    ],
)
