"""Several tensors into one, and tensors brought to a common form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import shift
from whygrad.ops.define import alias, composite, define
from whygrad.ops.geometry import normalize_dim
from whygrad.ops.shape.parts import along
from whygrad.ops.shape.views import expand, reshape, unsqueeze, view
from whygrad.tensor import Tensor

Array = Any
Shape = tuple[int, ...]
_LEGACY_EMPTY = (0,)  # fits anywhere, as in PyTorch, whatever the rank of the others


def require_tensors(tensors: Any, call: str, kind: type[Exception] = RuntimeError) -> list[Tensor]:
    if isinstance(tensors, Tensor):
        raise fail(
            TypeError,
            call=f"{call}({describe(tensors)})",
            cause=f"{call}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor",
            fix="put it into a list, or take it apart with unbind()",
        )
    listed = list(tensors)
    if not listed:
        raise fail(
            kind,
            call=f"{call}([])",
            cause=f"{call} expects a non-empty list of tensors (TensorList)",
            fix="pass at least one tensor",
        )
    for position, each in enumerate(listed):
        if not isinstance(each, Tensor):
            raise fail(
                TypeError,
                call=f"{call}([… {type(each).__name__} …])",
                cause=f"expected Tensor as element {position}, but got {type(each).__name__}",
                fix="convert it with whygrad.tensor(value)",
            )
    return listed


def _cat_shape(shapes: Sequence[Shape], dim: int) -> Shape:
    joined = [shape for shape in shapes if shape != _LEGACY_EMPTY] or shapes[:1]
    sizes = list(joined[0])
    sizes[dim] = sum(shape[dim] for shape in joined)
    return tuple(sizes)


def _cat(tensors: Sequence[Array], dim: int) -> Array:
    shape = _cat_shape([each.shape for each in tensors], dim)
    joined = [each for each in tensors if each.shape != _LEGACY_EMPTY] or tensors
    # an output of our own, because NumPy would follow the memory order of the inputs
    return np.concatenate(joined, dim, out=np.empty(shape, tensors[0].dtype))


def _cat_rule(
    xp: Any, incoming: Array, tensors_shape: tuple[Shape, ...], dim: int, needs: Any
) -> Any:
    gradients: list[Any] = []
    start = 0
    for shape, needed in zip(tensors_shape, needs, strict=True):
        if shape == _LEGACY_EMPTY:
            gradients.append(xp.new_zeros(incoming, shape) if needed else None)
            continue
        stop = start + shape[dim]
        gradients.append(xp.slice(incoming, along(dim, slice(start, stop))) if needed else None)
        start = stop
    return gradients


def _cat_args(tensors: Any, dim: int = 0) -> Any:
    """Join tensors along an existing dimension."""
    listed = require_tensors(tensors, "cat", ValueError)
    shapes = [each._array.shape for each in listed]
    reference = next((shape for shape in shapes if shape != _LEGACY_EMPTY), shapes[0])
    for position, shape in enumerate(shapes):
        if not shape:
            raise cannot_join(
                listed, f"zero-dimensional tensor (at position {position}) cannot be concatenated",
                "use stack(), or unsqueeze(0) first",
            )  # fmt: skip
        if len(shape) != len(reference) and shape != _LEGACY_EMPTY:
            raise cannot_join(
                listed, "Tensors must have same number of dimensions: got "
                f"{len(reference)} and {len(shape)}", "add dimensions with unsqueeze()",
            )  # fmt: skip
    dim = normalize_dim(dim, len(reference), "cat")
    others = reference[:dim] + reference[dim + 1 :]
    for position, shape in enumerate(shapes):
        if shape[:dim] + shape[dim + 1 :] != others and shape != _LEGACY_EMPTY:
            wanted, mine = next(
                pair for axis, pair in enumerate(zip(reference, shape))
                if axis != dim and pair[0] != pair[1]
            )  # fmt: skip
            raise cannot_join(
                listed, f"Sizes of tensors must match except in dimension {dim}. Expected size "
                f"{wanted} but got size {mine} for tensor number {position} in the list",
                "cut or pad the tensors to equal sizes",
            )  # fmt: skip
    return listed, dim


def cannot_join(tensors: list[Tensor], cause: str, fix: str, call: str = "cat") -> RuntimeError:
    return fail(RuntimeError, call=f"{call}({describe(tensors)})", cause=cause, fix=fix)


def _cat_of_batch(xp: Any, tensors: list[Array], dim: int) -> Array:
    place = shift(dim)
    full = max(tensors, key=lambda each: each.ndim).shape
    empty = (*full[:place], 0, *full[place + 1 :])
    fitting = [xp.reshape(each, empty) if each.ndim < len(full) else each for each in tensors]
    return xp.cat(fitting, place)


cat = define(
    "cat(*tensors; dim)",
    "y = x₁, x₂, … one after the other along dim;  ∂xᵢ = its part of incoming",
    forward=_cat,
    vjp=_cat_rule,
    linear=True,
    promote="same",
    meta=lambda tensors, dim: (_cat_shape([each.shape for each in tensors], dim), tensors[0].dtype),
    batching=_cat_of_batch,
    public=_cat_args,
    method=False,
    samples=lambda make: [
        make.call([make(2, 3), make(1, 3)]),
        make.call([make(2, 3), make(2, 1), make(2, 0)], -1),
        make.call([make(2, 3), make(0)], 1),
        make.call([make(0), make(0)]),
        make.call([make(2), make.ints(3)]),
        make.call([make(2, 2)], dim=0),
    ],
).public


def concat(tensors: Any, dim: int = 0) -> Tensor:
    """Another name of ``cat``."""
    return cat(tensors, dim)


def concatenate(tensors: Any, axis: int = 0, *, dim: int | None = None) -> Tensor:
    """``cat`` under NumPy's name."""
    return cat(tensors, axis if dim is None else dim)


def _stack_shape(shape: Shape, count: int, dim: int) -> Shape:
    if dim < 0:
        dim += len(shape) + 1
    return (*shape[:dim], count, *shape[dim:])


def _stack(tensors: Sequence[Array], dim: int) -> Array:
    first = tensors[0]
    shape = _stack_shape(first.shape, len(tensors), dim)
    return np.stack(tensors, dim, out=np.empty(shape, first.dtype))


def _stack_args(tensors: Any, dim: int = 0) -> Any:
    """Join tensors of one shape along a new dimension."""
    listed = require_tensors(tensors, "stack")
    first = listed[0]._array.shape
    for position, each in enumerate(listed):
        if each._array.shape != first:
            raise cannot_join(
                listed, f"stack expects each tensor to be equal size, but got {list(first)} at "
                f"entry 0 and {list(each.shape)} at entry {position}",
                "use cat() for tensors that differ along one dimension", "stack",
            )  # fmt: skip
    return listed, normalize_dim(dim, len(first) + 1, "stack")


stack = define(
    "stack(*tensors; dim)",
    "y = x₁, x₂, … along a new dimension;  ∂xᵢ = incoming at position i",
    forward=_stack,
    vjp=lambda xp, incoming, dim, needs: [
        xp.slice(incoming, along(dim, position)) if needed else None
        for position, needed in enumerate(needs)
    ],
    linear=True,
    promote="same",
    meta=lambda tensors, dim: (
        _stack_shape(tensors[0].shape, len(tensors), dim), tensors[0].dtype
    ),
    batching=lambda xp, tensors, dim: xp.stack(tensors, shift(dim)),
    public=_stack_args,
    method=False,
    samples=lambda make: [
        make.call([make(2, 3), make(2, 3)]),
        make.call([make(2, 3), make(2, 3), make(2, 3)], -1),
        make.call([make(), make()]),
        make.call([make(3), make.ints(3)], dim=1),
        make.call([make(0, 2)], 1),
    ],
).public  # fmt: skip


def atleast_1d(*tensors: Any) -> Any:
    """0-d tensors with one dimension; others as they are."""
    return _each(tensors, lambda x: reshape(x, (1,)) if x.ndim == 0 else x)


def atleast_2d(*tensors: Any) -> Any:
    """Tensors with at least two dimensions; a vector becomes a row."""
    return _each(tensors, _as_matrix)


def atleast_3d(*tensors: Any) -> Any:
    """Tensors with at least three dimensions; a matrix gets a last one of size 1."""
    return _each(tensors, lambda x: unsqueeze(_as_matrix(x), -1) if x.ndim < 3 else x)


def _as_matrix(x: Tensor) -> Tensor:
    if x.ndim == 0:
        return reshape(x, (1, 1))
    return unsqueeze(x, 0) if x.ndim == 1 else x


def _each(tensors: tuple[Any, ...], change: Any) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return change(tensors[0])
    if len(tensors) == 1:
        tensors = tuple(tensors[0])
    return tuple(change(each) for each in tensors)


def hstack(tensors: Any) -> Tensor:
    """Join side by side: along dimension 1, or 0 for vectors."""
    grown = [atleast_1d(each) for each in require_tensors(tensors, "hstack")]
    return cat(grown, 0 if grown[0].ndim == 1 else 1)


def vstack(tensors: Any) -> Tensor:
    """Join one below the other, vectors as rows."""
    return cat([atleast_2d(each) for each in require_tensors(tensors, "vstack")], 0)


def dstack(tensors: Any) -> Tensor:
    """Join along the third dimension."""
    return cat([atleast_3d(each) for each in require_tensors(tensors, "dstack")], 2)


def column_stack(tensors: Any) -> Tensor:
    """Join side by side, vectors as columns."""
    listed = require_tensors(tensors, "column_stack")
    return hstack([reshape(each, (each.numel(), 1)) if each.ndim <= 1 else each for each in listed])


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """The coordinates of a grid: each vector expanded along the dimensions of the others."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    listed = require_tensors(tensors, "meshgrid")
    problem = None
    if indexing not in ("ij", "xy"):
        problem = f'meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
    elif any(each.ndim > 1 for each in listed):
        problem = "meshgrid: Expected 0D or 1D tensor in the tensor list"
    elif len({each.dtype for each in listed}) > 1:
        problem = "meshgrid expects all tensors to have the same dtype"
    if problem:
        raise cannot_join(
            listed, problem, "pass vectors of one dtype, and indexing 'ij' or 'xy'", "meshgrid"
        )
    swap = indexing == "xy" and len(listed) > 1
    if swap:
        listed[:2] = listed[1::-1]
    shape = tuple(each.numel() for each in listed)
    grids = [
        expand(view(each, [-1 if axis == place else 1 for axis in range(len(shape))]), shape)
        for place, each in enumerate(listed)
    ]
    if swap:
        grids[:2] = grids[1::-1]
    return tuple(grids)


def cartesian_prod(*tensors: Any) -> Tensor:
    """Every combination of one element from each vector, one per row."""
    if len(tensors) == 1:
        return tensors[0]
    return stack([grid.flatten() for grid in meshgrid(*tensors, indexing="ij")], 1)


composite(
    concat,
    "y = x₁, x₂, … one after the other along dim",
    method=False,
    samples=lambda make: [make.call([make(2, 3), make(2, 1)], dim=1)],
)
composite(
    concatenate,
    "y = x₁, x₂, … one after the other along axis",
    method=False,
    samples=lambda make: [make.call([make(2, 3), make(2, 1)], axis=1)],
)
composite(
    hstack,
    "y = x₁, x₂, … side by side",
    method=False,
    samples=lambda make: [
        make.call([make(2, 3), make(2, 1)]),
        make.call([make(2), make()]),
    ],
)
composite(
    vstack,
    "y = x₁, x₂, … one below the other",
    method=False,
    samples=lambda make: [make.call([make(2, 3), make(3)]), make.call([make(), make()])],
)
composite(
    dstack,
    "y = x₁, x₂, … along the third dimension",
    method=False,
    samples=lambda make: [make.call([make(2, 3), make(2, 3)]), make.call([make(3), make(3)])],
)
composite(
    column_stack,
    "y = x₁, x₂, … side by side, vectors as columns",
    method=False,
    samples=lambda make: [make.call([make(3), make(3, 2)]), make.call([make(), make()])],
)
composite(
    atleast_1d,
    "y = x with at least one dimension",
    method=False,
    samples=lambda make: [make.call(make()), make.call(make(), make(2))],
)
composite(
    atleast_2d,
    "y = x with at least two dimensions",
    method=False,
    samples=lambda make: [make.call(make()), make.call([make(3), make(2, 2)])],
)
composite(
    atleast_3d,
    "y = x with at least three dimensions",
    method=False,
    samples=lambda make: [make.call(make()), make.call(make(3), make(3, 2), make(1, 2, 3))],
)
composite(
    meshgrid,
    "y₁, y₂, … = x₁, x₂, … expanded over a common grid",
    method=False,
    samples=lambda make: [
        make.call(make(2), make(3), indexing="ij"),
        make.call([make(2), make(3), make(2)], indexing="xy"),
        make.call(make(2), make(), indexing="ij"),
    ],
)
composite(
    cartesian_prod,
    "y = all combinations of elements, one per row",
    method=False,
    samples=lambda make: [make.call(make(2), make(3)), make.call(make(2))],
)
alias("row_stack", "vstack")
