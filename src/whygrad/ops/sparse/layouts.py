"""Sparse layouts: coordinates (COO) and compressed rows (CSR).

A sparse tensor is a pattern of coordinates and a vector of values.  Two ops cross the border:
``sparse_entries`` takes the values out, ``sparse_build`` puts values on a pattern.  Everything
between them is ordinary arithmetic on dense vectors, so gradients of any order come for free.

The gradient of a sparse tensor is sparse and lives on its pattern: places that are not stored are
structural zeros, and no gradient is computed for them.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from whygrad.dispatch import register
from whygrad.errors import describe, fail
from whygrad.ops.batching import refuse
from whygrad.ops.define import composite, define
from whygrad.ops.sparse.pattern import CooArray, CooPattern, CsrArray, CsrPattern, Pattern, matched
from whygrad.tensor import Tensor, devices, keys, payload_keys

__all__ = [
    "build",
    "coalesce",
    "entries",
    "is_sparse",
    "lookup",
    "merged",
    "pattern_of",
    "pick",
    "pile",
    "rebuild",
    "require_layout",
    "sparse_mask",
    "to_dense",
    "to_sparse",
    "to_sparse_coo",
    "to_sparse_csr",
]

Array = Any
Index = Any

payload_keys[CooArray] = keys.CPU | keys.SPARSE_COO
payload_keys[CsrArray] = keys.CPU | keys.SPARSE_CSR


def is_sparse(value: Any) -> bool:
    return isinstance(value, Tensor) and bool(value._keys & keys.LAYOUTS)


def pattern_of(sparse: Tensor) -> Pattern:
    pattern: Pattern = sparse._array.pattern
    return pattern


# The positions are parameters, not tensors: they belong to a pattern and never change.
pick = define(
    "sparse_pick(x; positions)",
    "y = x[positions];  ∂x = incoming added up at the positions",
    forward=lambda x, positions: x[positions],
    vjp={
        "x": lambda xp, incoming, x_shape, positions: xp.sparse_pile(
            incoming, positions, x_shape[0]
        )
    },
    linear=True,
    meta=lambda x, positions: ((len(positions), *x.shape[1:]), x.dtype),
    internal=True,
    samples=lambda make: [
        make.call(make(4), np.array([2, 0, 2])),
        make.call(make(3, 2), np.array([1, 1])),
        make.call(make(3), np.array([], dtype=np.int64)),
    ],
).call


def _pile(x: Array, positions: Index, count: int) -> Array:
    total = np.zeros((count, *x.shape[1:]), x.dtype)
    np.add.at(total, positions, x)
    return total


pile = define(
    "sparse_pile(x; positions, count)",
    "y[p] = Σ x[i] over positions[i] = p, for count places;  ∂x = incoming[positions]",
    forward=_pile,
    vjp={"x": lambda xp, incoming, positions: xp.sparse_pick(incoming, positions)},
    linear=True,
    meta=lambda x, positions, count: ((count, *x.shape[1:]), x.dtype),
    internal=True,
    samples=lambda make: [
        make.call(make(3), np.array([2, 0, 2]), 4),
        make.call(make(2, 2), np.array([1, 1]), 3),
        make.call(make(0), np.array([], dtype=np.int64), 2),
    ],
).call


def _gradient_on_pattern(xp: Any, incoming: Array, pattern: Pattern) -> Array:
    """Repeats of a coordinate are one matrix element, and all carry its one gradient: keep one."""
    if pattern.coalesced:
        return xp.sparse_build(incoming, pattern)
    distinct, _, representative = pattern.distinct
    return xp.sparse_build(xp.sparse_pick(incoming, representative), distinct)


_entries = define(
    "sparse_entries(s; pattern)",
    "y = the stored values of s;  ∂s = incoming on the pattern of s",
    forward=lambda s, pattern: s.values,
    vjp={"s": _gradient_on_pattern},
    kind="view",
    linear=True,
    internal=True,
    samples=lambda make: [make.around(lambda _, x: entries(to_sparse(x)), make(2, 3))],
)
_build = define(
    "sparse_build(values; pattern)",
    "y = a sparse tensor with these values;  ∂values = incoming looked up at the coordinates",
    forward=lambda values, pattern: pattern.array(values),
    vjp={"values": lambda xp, incoming, pattern: lookup(incoming, pattern)},
    linear=True,
    batching=refuse(
        "vmap does not support sparse tensors inside: every sample would have its own pattern",
        "compute with dense tensors inside vmap, or loop over the samples",
    ),
    internal=True,
    samples=lambda make: [
        make.around(_then_dense, make(3), CooPattern(np.array([[2, 0, 4]]), (5,), False)),
        make.around(_then_dense, make(3), CooPattern(np.array([[1, 0, 1]]), (2,), False)),
        make.around(_then_dense, make(2), CsrPattern(np.array([0, 0, 2]), np.arange(2), (2, 3))),
    ],
)
for _name in ("sparse_coo", "sparse_csr"):
    register(_entries, _name, _entries.forward)
register(_build, 0, _build.forward)  # it only wraps the values: one kernel for every dtype


def entries(sparse: Tensor) -> Tensor:
    """The stored values, repeats and all, with their place in the graph."""
    result: Tensor = _entries.call(sparse, pattern_of(sparse))
    return result


def build(values: Tensor, pattern: Pattern) -> Tensor:
    """A sparse tensor from values in the order of the pattern."""
    result: Tensor = _build.call(values, pattern)
    return result


def rebuild(sparse: Tensor, values: Tensor) -> Tensor:
    """The same pattern with other values."""
    return build(values, pattern_of(sparse))


def lookup(input: Tensor, pattern: Pattern) -> Tensor:
    """What ``input``, dense or sparse, holds at the coordinates of ``pattern``."""
    if not is_sparse(input):
        return pick(input.reshape(-1), pattern.flat)
    if pattern.coalesced and pattern_of(input).same_as(pattern):
        return entries(input)
    stored = merged(input)
    wanted, group, _ = pattern.distinct
    source, place = matched(pattern_of(stored), wanted)
    found = pile(pick(entries(stored), source), place, wanted.count)
    return pick(found, group)


def coalesce(input: Tensor) -> Tensor:
    """Coordinates sorted and each once; the values of repeats added up."""
    require_layout(input, "coalesce", keys.SPARSE_COO)
    return merged(input)


def merged(input: Tensor) -> Tensor:
    """``coalesce`` for either layout; compressed rows never repeat a coordinate."""
    pattern = pattern_of(input)
    if pattern.coalesced:
        return input
    distinct, group, _ = pattern.distinct
    return build(pile(entries(input), group, distinct.count), distinct)


def to_dense(input: Tensor, dtype: Any = None) -> Tensor:
    """The tensor with every element stored, zeros included; a strided tensor is itself."""
    if is_sparse(input):
        pattern = pattern_of(input)
        input = pile(entries(input), pattern.flat, _size(pattern)).reshape(pattern.shape)
    return input if dtype is None else input.to(dtype)


def _size(pattern: Pattern) -> int:
    return int(np.prod(pattern.shape, dtype=np.int64))


def to_sparse(input: Tensor, sparse_dim: int | None = None, *, layout: Any = None) -> Tensor:
    """Only the elements that are not zero, by coordinates (or in another ``layout``)."""
    if sparse_dim is not None and operator.index(sparse_dim) != input.ndim:
        raise fail(
            RuntimeError,
            call=f"to_sparse(sparse_dim={sparse_dim}) of {describe(input)}",
            cause="hybrid tensors (sparse dimensions followed by dense ones) are not supported",
            fix=f"leave sparse_dim out, or pass {input.ndim}",
        )
    if layout is devices.sparse_csr:
        return to_sparse_csr(input)
    if input._keys & keys.SPARSE_CSR:
        return build(entries(input), CooPattern(pattern_of(input).indices, input.shape, True))
    if is_sparse(input):
        return input
    if not input.ndim:
        raise fail(
            RuntimeError,
            call=f"to_sparse() of {describe(input)}",
            cause="a tensor without dimensions has no coordinates to store",
            fix="use the number as it is, or unsqueeze(0) first",
        )
    _require_data(input, "to_sparse")
    pattern = CooPattern(np.array(np.nonzero(input._array)), tuple(input.shape), coalesced=True)
    return build(lookup(input, pattern), pattern)


def to_sparse_coo(input: Tensor) -> Tensor:
    """The tensor by coordinates."""
    return to_sparse(input)


def to_sparse_csr(input: Tensor, dense_dim: int | None = None) -> Tensor:
    """The matrix by compressed rows."""
    if input.ndim != 2 or dense_dim:
        raise fail(
            RuntimeError,
            call=f"to_sparse_csr() of {describe(input)}",
            cause=f"compressed rows are for matrices: expected 2 dimensions, got {input.ndim}",
            fix="use to_sparse_coo() for other numbers of dimensions",
        )
    if input._keys & keys.SPARSE_CSR:
        return input
    stored = merged(to_sparse(input))
    return build(entries(stored), CsrPattern.of(pattern_of(stored)))


def sparse_mask(input: Tensor, mask: Tensor) -> Tensor:
    """The elements of ``input`` at the coordinates that ``mask`` stores."""
    require_layout(mask, "sparse_mask", keys.LAYOUTS)
    pattern = pattern_of(mask)
    if tuple(input.shape) != pattern.shape:
        raise fail(
            RuntimeError,
            call=f"sparse_mask({describe(input)}, mask={describe(mask)})",
            cause="sparse_mask(): operands have incompatible sizes",
            fix=f"pass a mask of shape {tuple(input.shape)}",
        )
    return build(lookup(input, pattern), pattern)


def require_layout(input: Tensor, name: str, layouts: int) -> None:
    if input._keys & layouts:
        return
    wanted = {keys.SPARSE_COO: "sparse coordinate", keys.SPARSE_CSR: "sparse row compressed"}
    convert = "to_sparse_csr()" if layouts == keys.SPARSE_CSR else "to_sparse()"
    raise fail(
        RuntimeError,
        call=f"{name}() of {describe(input)}",
        cause=f"{name} expected {wanted.get(layouts, 'sparse')} tensor layout but got "
        f"{input.layout.name}",
        fix=f"convert it first: x.{convert}",
    )


def _require_data(input: Tensor, name: str) -> None:
    if input._keys & keys.META:
        raise fail(
            RuntimeError,
            call=f"{name}() of {describe(input)} on meta",
            cause="which elements are zero depends on the data, and a meta tensor has none",
            fix="run it on cpu",
        )


def _then_dense(op: Any, *args: Any, **kwargs: Any) -> Any:
    return op(*args, **kwargs).to_dense()


def _of_sparse(op: Any, x: Any) -> Any:
    result = op((x * (x > 0)).to_sparse())
    return result.to_dense()


composite(
    to_dense,
    "y = x with its zeros written out;  ∂x = incoming at the stored coordinates",
    torch="Tensor.to_dense",
    samples=lambda make: [
        make.call(make(2, 3)),
        make.around(_of_sparse, make(2, 3)),
        make.around(_of_sparse, make(2, 3, 2)),
    ],
)
composite(
    to_sparse,
    "y = the elements of x that are not 0;  ∂x = incoming at those, 0 elsewhere",
    torch="Tensor.to_sparse",
    samples=lambda make: [
        make.around(_then_dense, make(2, 3)),
        make.around(_then_dense, make(4), 1),
        make.around(_then_dense, make(0, 3)),
        make.around(_of_sparse, make(2, 3)),
    ],
)
composite(
    to_sparse_coo,
    "y = x by coordinates;  ∂x = incoming at the stored ones, 0 elsewhere",
    torch="Tensor.to_sparse_coo",
    samples=lambda make: [make.around(_then_dense, make(2, 3)), make.around(_of_sparse, make(5))],
)
composite(
    to_sparse_csr,
    "y = x by compressed rows;  ∂x = incoming at the stored ones, 0 elsewhere",
    torch="",  # PyTorch warns that its CSR is in beta
    samples=lambda make: [
        make.around(_then_dense, make(2, 3)),
        make.around(_of_sparse, make(3, 2)),
    ],
)
composite(
    coalesce,
    "y = x with repeated coordinates added up;  ∂y/∂x = 1",
    torch="Tensor.coalesce",
    samples=lambda make: [make.around(_of_sparse, make(2, 3))],
)
composite(
    sparse_mask,
    "y = x at the coordinates of mask;  ∂x = incoming at those, 0 elsewhere",
    torch="Tensor.sparse_mask",
    samples=lambda make: [
        make.around(
            lambda op, x, mask: op(x, mask.to_sparse()).to_dense(), make(2, 3), make.ints(2, 3)
        )
    ],
)
