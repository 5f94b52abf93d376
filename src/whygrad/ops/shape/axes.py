"""Views that reorder dimensions, and the parts of complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import leading_dims, shift, shift_dims
from whygrad.ops.define import composite, define, elementwise
from whygrad.ops.geometry import normalize_dim, normalize_dims, shape_from
from whygrad.tensor import Tensor, dtypes

Array = Any
Dims = tuple[int, ...]


def _transpose_args(input: Tensor, dim0: int, dim1: int) -> Any:
    ndim = input.ndim
    return input, normalize_dim(dim0, ndim, "transpose"), normalize_dim(dim1, ndim, "transpose")


_transpose_op = define(
    "transpose(x; dim0, dim1)",
    "y = x with two dimensions exchanged;  ∂x = incoming with the same two exchanged",
    forward=lambda x, dim0, dim1: x if dim0 == dim1 else x.swapaxes(dim0, dim1),
    vjp={"x": lambda xp, incoming, dim0, dim1: xp.transpose(incoming, dim0, dim1)},
    kind="view",
    linear=True,
    batching=shift_dims("dim0", "dim1"),
    public=_transpose_args,
    samples=lambda make: [
        make.call(make(2, 3, 4), 0, 2),
        make.call(make(2, 3), -1, -2),
        make.call(make(2, 3), 1, 1),
        make.call(make(), 0, -1),
        make.call(make(0, 3), 0, 1),
    ],
)
transpose = _transpose_op.public


def _inverse(dims: Dims) -> Dims:
    inverse = [0] * len(dims)
    for place, dim in enumerate(dims):
        inverse[dim] = place
    return tuple(inverse)


def _permute_args(input: Tensor, *order: Any, dims: Any = None) -> Any:
    """Reorder all dimensions."""
    wanted = shape_from(order if dims is None else (dims,))
    if len(wanted) != input.ndim:
        raise fail(
            RuntimeError,
            call=f"permute{wanted} of {describe(input)}",
            cause="number of dimensions in the tensor input does not match the length of the "
            f"desired ordering of dimensions i.e. input.dim() = {input.ndim} is not equal to "
            f"len(dims) = {len(wanted)}",
            fix="name every dimension once",
        )
    dims = tuple([normalize_dim(dim, input.ndim, "permute") for dim in wanted])
    if len(set(dims)) != len(dims):
        raise fail(
            RuntimeError,
            call=f"permute{wanted} of {describe(input)}",
            cause="permute(): duplicate dims are not allowed",
            fix="name every dimension once",
        )
    return input, dims


permute = define(
    "permute(x; dims)",
    "y = x with its dimensions in another order;  ∂x = incoming in the old order",
    forward=lambda x, dims: x.transpose(dims),
    vjp={"x": lambda xp, incoming, dims: xp.permute(incoming, _inverse(dims))},
    kind="view",
    linear=True,
    batching=lambda xp, x, dims: xp.permute(x, (0, *shift(dims))),
    public=_permute_args,
    samples=lambda make: [
        make.call(make(2, 3, 4), (2, 0, 1)),
        make.call(make(2, 3), (-1, 0)),
        make.call(make(), ()),
        make.call(make(2, 0, 3), (1, 2, 0)),
    ],
).public


def t(input: Tensor) -> Tensor:
    """The transposed matrix; vectors and 0-d tensors as they are."""
    if input.ndim > 2:
        raise fail(
            RuntimeError,
            call=f"t() of {describe(input)}",
            cause=f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D",
            fix="use mT for batches of matrices, or transpose(dim0, dim1)",
        )
    return transpose(input, 0, -1)


def adjoint(input: Tensor) -> Tensor:
    """The last two dimensions exchanged, and complex numbers conjugated."""
    _require_matrices(input, "adjoint")
    swapped = transpose(input, -2, -1)
    return conj(swapped)


def matrix_transpose(input: Tensor) -> Tensor:
    """The last two dimensions exchanged: what ``Tensor.mT`` returns."""
    _require_matrices(input, "tensor.mT")
    return _transpose_op.call(input, -2, -1)


def _require_matrices(input: Tensor, call: str) -> None:
    if input.ndim < 2:
        raise fail(
            RuntimeError,
            call=f"{call} of {describe(input)}",
            cause=f"{call} is only supported on matrices or batches of matrices. "
            f"Got {input.ndim}-D tensor",
            fix="add a dimension with unsqueeze()",
        )


def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """``transpose`` under NumPy's name."""
    return transpose(input, axis0, axis1)


def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Another name of ``transpose``."""
    return transpose(input, dim0, dim1)


def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Move dimensions to new places; the others keep their order."""
    if isinstance(source, int) != isinstance(destination, int):
        raise fail(
            TypeError,
            call=f"movedim({source!r}, {destination!r})",
            cause="source and destination must be two integers or two tuples",
            fix="pass both in the same form",
        )
    ndim = input.ndim
    taken, places = (
        normalize_dims(given, ndim, f"movedim, {side}")
        for side, given in (("source", source), ("destination", destination))
    )
    if len(taken) != len(places):
        raise fail(
            RuntimeError,
            call=f"movedim({source!r}, {destination!r})",
            cause="movedim: Invalid source or destination dims: source "
            f"({list(taken)}) should contain the same number of dims as destination "
            f"({list(places)})",
            fix="give every source one destination",
        )
    if ndim == 0:
        return permute(input, ())
    rest = iter(dim for dim in range(ndim) if dim not in taken)
    arrives = dict(zip(places, taken, strict=True))
    return permute(input, [arrives[dim] if dim in arrives else next(rest) for dim in range(ndim)])


def moveaxis(input: Tensor, source: Any, destination: Any) -> Tensor:
    """``movedim`` under NumPy's name."""
    return movedim(input, source, destination)


composite(
    t,
    "y = xᵀ",
    samples=lambda make: [make.call(make(2, 3)), make.call(make(3)), make.call(make())],
)
composite(
    adjoint,
    "y = xᴴ over the last two dimensions",
    samples=lambda make: [make.call(make(2, 3)), make.call(make(2, 3, 4))],
)
composite(
    swapaxes,
    "y = x with two dimensions exchanged",
    samples=lambda make: [make.call(make(2, 3, 4), 0, -1)],
)
composite(
    swapdims,
    "y = x with two dimensions exchanged",
    samples=lambda make: [make.call(make(2, 3, 4), 0, -1)],
)
composite(
    movedim,
    "y = x with some dimensions moved, the others in order",
    samples=lambda make: [
        make.call(make(2, 3, 4), 0, -1),
        make.call(make(2, 3, 4), (0, 1), (2, 0)),
        make.call(make(), 0, 0),
    ],
)
composite(
    moveaxis,
    "y = x with some dimensions moved, the others in order",
    samples=lambda make: [make.call(make(2, 3, 4), 2, 0)],
)

_real_part = define(
    "real_part(x)",
    "y = Re x of a complex x, same memory;  ∂x = incoming, without an imaginary part",
    forward=lambda x: x.real,
    vjp={"x": lambda xp, incoming, x_dtype: xp.cast(incoming, dtypes.of(x_dtype))},
    complex_rule="own",
    linear=True,
    kind="view",
    batching=leading_dims,
    method=False,
    torch="real",
    samples=lambda make: [make.call(make(2, 3).astype(complex) * (1 + 2j))],
).public
_imaginary_part = define(
    "imaginary_part(x)",
    "y = Im x of a complex x, same memory;  ∂x = i·incoming",
    forward=lambda x: x.imag,
    vjp={"x": lambda xp, incoming, x_dtype: xp.cast(incoming, dtypes.of(x_dtype)) * 1j},
    complex_rule="own",
    linear=True,
    kind="view",
    batching=leading_dims,
    method=False,
    torch="imag",
    samples=lambda make: [make.call(make(2, 3).astype(complex) * (1 + 2j))],
).public


_conjugated = elementwise(
    "conj_physical(x)",
    "y = Re x − i·Im x as a copy;  ∂x = the conjugate of incoming",
    forward=lambda x: np.conjugate(x) if x.dtype.kind == "c" else x.copy(),
    vjp={"x": lambda xp, incoming: xp.conj_physical(incoming)},
    complex_rule="own",
    promote="none",
).public


def conj(input: Tensor) -> Tensor:
    """The conjugate of a complex tensor; a real tensor is its own."""
    return _conjugated(input) if input.dtype.is_complex else input


def real(input: Tensor) -> Tensor:
    """The real part as a view; a real tensor is its own."""
    return _real_part(input) if input.dtype.is_complex else input


def imag(input: Tensor) -> Tensor:
    """The imaginary part of a complex tensor, as a view."""
    if not input.dtype.is_complex:
        raise fail(
            RuntimeError,
            call=f"imag of {describe(input)}",
            cause="imag is not implemented for tensors with non-complex dtypes",
            fix="a real tensor has no imaginary part; use zeros_like(x)",
        )
    return _imaginary_part(input)


composite(
    conj,
    "y = Re x − i·Im x",
    torch="conj_physical",
    samples=lambda make: [make.call(make(2, 3)), make.call(make(2, 3).astype(complex) * (1 + 2j))],
)
composite(
    real,
    "y = Re x",
    method=False,
    samples=lambda make: [make.call(make(2, 3)), make.call(make(2, 3).astype(complex) * (1 + 2j))],
)
composite(
    imag,
    "y = Im x of a complex x",
    method=False,
    differentiable=False,
    samples=lambda make: [make.call(make(2, 3).astype(complex) * (1 + 2j))],
)
