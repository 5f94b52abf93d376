"""Padding: a border around a tensor, constant or made from its own elements.

Every mode treats one dimension after the other.  Along a dimension the output consists of a few
runs, each copied from a run of the input; the adjoint adds the same runs back.  Reversed runs
reflect, runs of a single element replicate, runs from the other end go around in a circle.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.define import composite, define
from whygrad.ops.numbers import number_for
from whygrad.ops.shape.parts import along
from whygrad.ops.shape.views import clone
from whygrad.tensor import Tensor

Array = Any
Shape = tuple[int, ...]
Pads = tuple[tuple[int, int], ...]  # (before, after) per dimension; negative numbers crop
Run = tuple[slice, slice]  # where in the output, from where in the input

_MODES = ("constant", "reflect", "replicate", "circular")


def padded_shape(shape: Shape, pads: Pads) -> Shape:
    return tuple(size + before + after for size, (before, after) in zip(shape, pads, strict=True))


def _kept(size: int, before: int, after: int) -> Run:
    """The part of a dimension that padding neither adds nor crops: in the output, in the input."""
    total = size + before + after
    return (
        slice(max(before, 0), total - max(after, 0)),
        slice(max(-before, 0), size - max(-after, 0)),
    )


def _runs(size: int, before: int, after: int, mode: str) -> list[Run]:
    """The kept part, then the border before it and the border after it where there is one."""
    inner, source = _kept(size, before, after)
    total = size + before + after
    if mode == "reflect":
        last = size - 2 - after
        borders = slice(before, 0, -1), slice(size - 2, last if last >= 0 else None, -1)
    elif mode == "replicate":
        borders = slice(0, 1), slice(size - 1, size)
    else:
        borders = (
            slice(source.stop - before, source.stop),
            slice(source.start, source.start + after),
        )
    found = [(inner, source)]
    if before > 0:
        found.append((slice(0, before), borders[0]))
    if after > 0:
        found.append((slice(total - after, total), borders[1]))
    return found


def _pad_constant(x: Array, pads: Pads, value: Any) -> Array:
    whole = np.full(padded_shape(x.shape, pads), value, x.dtype)
    kept = [_kept(size, *pad) for size, pad in zip(x.shape, pads, strict=True)]
    whole[tuple(inner for inner, _ in kept)] = x[tuple(source for _, source in kept)]
    return whole


def _pad_edges(x: Array, pads: Pads, mode: str) -> Array:
    for dim, (before, after) in enumerate(pads):
        if before or after:
            size = x.shape[dim]
            shape = (*x.shape[:dim], size + before + after, *x.shape[dim + 1 :])
            whole = np.empty(shape, x.dtype)
            for inner, source in _runs(size, before, after, mode):
                whole[along(dim, inner)] = x[along(dim, source)]
            x = whole
    return np.array(x, order="C")


def _pad_edges_backward(x: Array, shape: Shape, pads: Pads, mode: str) -> Array:
    for dim in reversed(range(len(pads))):
        before, after = pads[dim]
        if before or after:
            size = shape[dim]
            whole = np.zeros((*x.shape[:dim], size, *x.shape[dim + 1 :]), x.dtype)
            for inner, source in _runs(size, before, after, mode):
                border = x[along(dim, inner)]
                target = whole[along(dim, source)]
                if target.shape[dim] != border.shape[dim]:  # one element went to many
                    border = border.sum(dim, x.dtype, keepdims=True)
                target += border
            x = whole
    return x


pad_constant = define(
    "pad_constant(x; pads, value)",
    "y = x with a border of one value;  ∂x = incoming without the border",
    complex_rule="holomorphic",
    forward=_pad_constant,
    vjp={"x": lambda xp, incoming, pads: xp.pad_constant(incoming, _negated(pads), 0)},
    jvp=lambda xp, tangents, pads: xp.pad_constant(tangents[0], pads, 0),
    meta=lambda x, pads, value: (padded_shape(x.shape, pads), x.dtype),
    batching=lambda xp, x, pads, value: xp.pad_constant(x, ((0, 0), *pads), value),
    internal=True,
    samples=lambda make: [
        make.call(make(2, 3), ((1, 0), (0, 2)), 1.5),
        make.call(make(2, 3), ((-1, 1), (1, -2)), 0),
    ],
).call
pad_edges = define(
    "pad_edges(x; pads, mode)",
    "y = x with a border of its own elements;  ∂x = incoming, each copy added to its original",
    forward=_pad_edges,
    vjp={
        "x": lambda xp, incoming, x_shape, pads, mode: xp.pad_edges_backward(
            incoming, x_shape, pads, mode
        )
    },
    linear=True,
    flat=("x",),
    meta=lambda x, pads, mode: (padded_shape(x.shape, pads), x.dtype),
    batching=lambda xp, x, pads, mode: xp.pad_edges(x, ((0, 0), *pads), mode),
    internal=True,
    samples=lambda make: [
        make.call(make(3, 3), ((1, 2), (2, -1)), mode) for mode in _MODES[1:]
    ],
    autocast=lambda x, pads, mode: (
        None if mode == "circular" or (mode == "reflect" and sum(map(any, pads)) > 2) else "float32"
    ),
).call  # fmt: skip
define(
    "pad_edges_backward(x; shape, pads, mode)",
    "y = x without its border, each copy added to its original;  ∂x = incoming padded",
    forward=_pad_edges_backward,
    vjp={"x": lambda xp, incoming, pads, mode: xp.pad_edges(incoming, pads, mode)},
    linear=True,
    meta=lambda x, shape, pads, mode: (shape, x.dtype),
    batching=lambda xp, x, shape, pads, mode, batch: xp.pad_edges_backward(
        x, (batch, *shape), ((0, 0), *pads), mode
    ),
    internal=True,
    samples=lambda make: [
        make.call(make(6, 4), (3, 3), ((1, 2), (2, -1)), mode) for mode in _MODES[1:]
    ],
)


def _negated(pads: Pads) -> Pads:
    return tuple((-before, -after) for before, after in pads)


def pad(input: Tensor, pad: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """A border around the last dimensions, given from the last one backwards as (before, after).

    Negative numbers crop.  ``mode`` is ``constant`` (with ``value``), ``reflect`` (the border
    mirrors the inside), ``replicate`` (repeats the edge) or ``circular`` (continues at the other
    end).
    """
    if mode not in _MODES:
        raise _refuse(
            input, pad, f"Unrecognised padding mode {mode}", f"use one of {', '.join(_MODES)}",
            NotImplementedError,
        )  # fmt: skip
    pads = _per_dimension(input, pad)
    if not any(map(any, pads)):
        return clone(input)
    if mode == "constant":
        _check_not_negative(input, pad, pads)
        return pad_constant(input, pads, 0 if value is None else number_for(input, value, "pad"))
    if value:
        raise _refuse(
            input, pad, f'Padding mode "{mode}" doesn\'t take in value argument', "leave value out"
        )
    _check_edges(input, pad, pads, mode)
    return pad_edges(input, pads, mode)


def _per_dimension(input: Tensor, pad: Any) -> Pads:
    numbers = [operator.index(each) for each in pad]
    if len(numbers) % 2:
        raise _refuse(
            input, pad, "Padding length must be divisible by 2", "give (before, after) pairs"
        )
    if len(numbers) > 2 * input.ndim:
        raise _refuse(
            input, pad, "Padding length should be less than or equal to two times the input "
            f"dimension but got padding length {len(numbers)} and input of dimension {input.ndim}",
            "give one pair per dimension, last dimension first",
        )  # fmt: skip
    pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
    return ((0, 0),) * (input.ndim - len(pairs)) + tuple(reversed(pairs))


def _check_not_negative(input: Tensor, pad: Any, pads: Pads) -> None:
    for dim, size in enumerate(padded_shape(tuple(input.shape), pads)):
        before, after = pads[dim]
        if size < 0 or input.shape[dim] + min(before, 0) + min(after, 0) < 0:
            raise _refuse(
                input, pad, f"The input size {input.shape[dim]}, plus negative padding {before} "
                f"and {after}, resulted in a negative output size at dimension {dim} "
                "(length must be non-negative)", "crop less",
            )  # fmt: skip


def _check_edges(input: Tensor, pad: Any, pads: Pads, mode: str) -> None:
    for dim, (size, (before, after)) in enumerate(zip(input.shape, pads, strict=True)):
        if not before and not after:
            continue
        inner = size + min(before, 0) + min(after, 0)
        widest = max(before, after)
        problem = None
        if inner < 0:
            problem = "Negative padding value is resulting in an empty dimension"
        elif mode == "reflect" and widest >= size:
            problem = (
                "Padding size should be less than the corresponding input dimension, but got: "
                f"padding ({before}, {after}) at dimension {dim} of input {list(input.shape)}"
            )
        elif mode == "circular" and widest > inner:
            problem = "Padding value causes wrapping around more than once"
        elif size == 0:
            problem = "Expected a tensor with non-zero dimensions: there is no edge to repeat"
        elif mode != "circular" and size + before + after <= 0:
            problem = (
                f"input ({size}) is too small. Calculated output size: {size + before + after}"
            )
        if problem:
            raise _refuse(input, pad, problem, "pad less, or use mode='constant'")


def _refuse(
    input: Tensor, pad: Any, cause: str, fix: str, kind: type[Exception] = RuntimeError
) -> Exception:
    return fail(kind, call=f"pad({describe(input)}, pad={tuple(pad)})", cause=cause, fix=fix)


composite(
    pad,
    "y = x with a border: constant, reflected, replicated or circular",
    torch="nn.functional.pad",
    samples=lambda make: [
        make.call(make(2, 3), (1, 2)),
        make.call(make(2, 3), (1, 2, 0, 1), value=1.5),
        make.call(make(2, 3), (-1, 1, 1, -1), "constant", 2.0),
        make.call(make(2, 3), ()),
        make.call(make(), ()),
        make.call(make(0, 2), (1, 1, 1, 0)),
        make.call(make.ints(2, 3), (1, 1), value=2),
        make.call(make(2, 4), (2, 1), mode="reflect"),
        make.call(make(1, 3, 4), (2, 1), mode="reflect"),
        make.call(make(2, 3, 3), (1, 2, 2, 0), mode="reflect"),
        make.call(make(1, 5), (-3, 3), mode="reflect"),
        make.call(make(1, 2, 2, 3), (1, 1, 1, 0, 0, 1), mode="reflect"),
        make.call(make(2, 3), (4, 1), mode="replicate"),
        make.call(make(1, 5), (-3, 2), mode="replicate"),
        make.call(make(1, 2, 2, 2), (1, 2, 2, 0), mode="replicate"),
        make.call(make(1, 2, 2, 2), (1, 0, 0, 1, 1, 0), mode="replicate"),
        make.call(make(2, 3), (3, 1), mode="circular"),
        make.call(make(1, 5), (-2, 3), mode="circular"),
        make.call(make(1, 2, 2, 3), (1, 2, 2, 0), mode="circular"),
    ],
)
