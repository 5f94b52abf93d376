"""Products written with indices: einsum, tensordot, and matrix functions of the same kind."""

from __future__ import annotations

from string import ascii_letters
from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops.define import composite, table
from whygrad.ops.geometry import normalize_dims
from whygrad.ops.namespace import recorded
from whygrad.ops.products.contraction import contract
from whygrad.ops.products.equations import from_sublists, parse
from whygrad.tensor import Tensor, dtypes

Dims = tuple[int, ...]


def einsum(*args: Any) -> Tensor:
    """Σ Π operands as the equation says: ``einsum("bij,bjk->bik", a, b)``."""
    equation, operands = _einsum_arguments(args)
    for position, each in enumerate(operands):
        if not isinstance(each, Tensor):
            raise fail(
                TypeError,
                call=f"einsum({equation!r}, …)",
                cause=f"einsum(): operand {position} is of type {type(each).__name__}, "
                "not a tensor",
                fix="convert it with whygrad.tensor(value)",
            )
    shapes = tuple(tuple(each.shape) for each in operands)
    return contract(operands, *parse(equation, shapes), widen=True)


def _einsum_arguments(args: tuple[Any, ...]) -> tuple[str, list[Tensor]]:
    if len(args) < 2:
        raise fail(
            ValueError,
            call=f"einsum with {len(args)} arguments",
            cause="einsum(): must specify the equation string and at least one operand, or at "
            "least one operand and its subscripts list",
            fix='write einsum("ij,jk->ik", a, b)',
        )
    if not isinstance(args[0], str):
        return from_sublists(args)
    if len(args) == 2 and isinstance(args[1], (list, tuple)):
        return args[0], list(args[1])
    return args[0], list(args[1:])


composite(
    einsum,
    "y = Σ Π operands over the letters that the result leaves out",
    method=False,
    samples=lambda make: [
        make.call("ij,jk->ik", make(2, 3), make(3, 4)),
        make.call("bij,bjk", make(2, 2, 3), make(2, 3, 2)),
        make.call("ij->ji", make(2, 3)),
        make.call("ij->", make(2, 3)),
        make.call("ii", make(3, 3)),
        make.call("ii->i", make(3, 3)),
        make.call("iij,jj->i", make(2, 2, 3), make(3, 3)),
        make.call("iii->i", make(2, 2, 2)),
        make.call("...ij,...jk->...ik", make(2, 2, 3), make(3, 2)),
        make.call("...i->i", make(2, 3)),
        make.call("i...,i...", make(2, 3), make(2, 2, 3)),
        make.call("i,j->ij", make(2), make(3)),
        make.call("ij,ij->ij", make(2, 3), make(1, 3)),
        make.call("ij,jk->ik", make(2, 1), make(3, 2)),
        make.call("ij,kl->", make(2, 2), make(1, 3)),
        make.call("ij,jk,kl->il", make(2, 3), make(3, 2), make(2, 2)),
        make.call("bn,anm,bm->ba", make(2, 2), make(3, 2, 3), make(2, 3)),
        make.call("i,j,k->kji", make(2), make(2), make(2)),
        make.call("bhqd,bhkd->bhqk", make(1, 2, 2, 3), make(1, 2, 2, 3)),
        make.call("ij,jk", make.ints(2, 3), make.ints(3, 2)),
        make.call("ij->i", make.ints(2, 3, low=100, high=120).astype("int8")),
        make.call("ij,kj->j", make.ints(2, 3).astype("uint8"), make.ints(2, 3).astype("uint8")),
        make.call("ij,kl->", make.bools(2, 3), make.bools(2, 2)),
        make.call(make(2, 3), [0, 1], make(3, 2), [1, 2], [0, 2]),
        make.call(make(2, 3), [..., 1], make(3), [1]),
    ],
)


def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Sum products over the last ``dims`` dimensions of ``a`` and the first of ``b``, or over
    two lists of dimensions."""
    left, right = _contracted(a, b, dims)
    for first, second in zip(left, right, strict=True):
        sizes = a.shape[first], b.shape[second]
        if sizes[0] != sizes[1] and 1 not in sizes:
            raise fail(
                RuntimeError,
                call=f"tensordot of shapes {tuple(a.shape)} and {tuple(b.shape)}, dims={dims}",
                cause=f"contracted dimensions need to match, but first has size {sizes[0]} in "
                f"dim {first} and second has size {sizes[1]} in dim {second}",
                fix="name pairs of dimensions of equal size",
            )
    letters = iter(ascii_letters)
    first_labels = [next(letters) for _ in range(a.ndim)]
    second_labels = [
        first_labels[left[right.index(dim)]] if dim in right else next(letters)
        for dim in range(b.ndim)
    ]
    free = [label for dim, label in enumerate(first_labels) if dim not in left]
    free += [label for dim, label in enumerate(second_labels) if dim not in right]
    return contract([a, b], ["".join(first_labels), "".join(second_labels)], "".join(free))


def _contracted(a: Tensor, b: Tensor, dims: Any) -> tuple[Dims, Dims]:
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.ndim, b.ndim):
            raise fail(
                RuntimeError,
                call=f"tensordot of shapes {tuple(a.shape)} and {tuple(b.shape)}, dims={dims}",
                cause=f"tensordot expects 0 <= dims <= ndim of each tensor, but got dims={dims}",
                fix=f"pass a number from 0 to {min(a.ndim, b.ndim)}, or two lists of dimensions",
            )
        return tuple(range(a.ndim - dims, a.ndim)), tuple(range(dims))
    left = normalize_dims(dims[0], a.ndim, "tensordot, first tensor")
    right = normalize_dims(dims[1], b.ndim, "tensordot, second tensor")
    if len(left) != len(right):
        raise fail(
            RuntimeError,
            call=f"tensordot with dims={dims}",
            cause="both dimension lists should have same length",
            fix="pair every contracted dimension of a with one of b",
        )
    return left, right


def inner(input: Tensor, other: Tensor) -> Tensor:
    """Sum products over the last dimension of both."""
    if not (input.ndim and other.ndim):
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise fail(
            RuntimeError,
            call=f"inner of shapes {tuple(input.shape)} and {tuple(other.shape)}",
            cause="inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}",
            fix="transpose one of them, or use tensordot to name the dimensions",
        )
    return tensordot(input, other, dims=([-1], [-1]))


def kron(input: Tensor, other: Tensor) -> Tensor:
    """Every element of ``input`` times the whole of ``other``, laid out as blocks."""
    rank = max(input.ndim, other.ndim)
    outer_sizes = (1,) * (rank - input.ndim) + tuple(input.shape)
    inner_sizes = (1,) * (rank - other.ndim) + tuple(other.shape)
    blocks = recorded.reshape(input, tuple(size for each in outer_sizes for size in (each, 1)))
    cells = recorded.reshape(other, tuple(size for each in inner_sizes for size in (1, each)))
    sizes = tuple(m * n for m, n in zip(outer_sizes, inner_sizes, strict=True))
    return recorded.reshape(blocks * cells, sizes)


def trace(input: Tensor) -> Tensor:
    """The sum of the diagonal."""
    if input.ndim != 2:
        raise fail(
            RuntimeError,
            call=f"trace of a tensor of shape {tuple(input.shape)}",
            cause=f"trace: expected a matrix, but got tensor with dim {input.ndim}",
            fix="for batches use x.diagonal(dim1=-2, dim2=-1).sum(-1)",
        )
    if input.dtype is dtypes.bool_:
        raise fail(
            NotImplementedError,
            call=f"trace of {describe(input)}",
            cause="trace is not implemented for bool",
            fix="convert first: x.to(whygrad.int64)",
        )
    total: Tensor = table["sum"].public(recorded.diagonal(input, 0, 0, 1))
    return total


composite(
    tensordot,
    "y = Σ a·b over pairs of dimensions",
    method=False,
    samples=lambda make: [
        make.call(make(2, 3, 2), make(3, 2, 2)),
        make.call(make(2, 3), make(3, 2), dims=1),
        make.call(make(2, 3), make(2), dims=0),
        make.call(make(2, 3, 2), make(2, 4, 3), dims=([1, 0], [-1, 0])),
        make.call(make(2, 1), make(3, 2), dims=1),
    ],
    autocast="lower",
)
composite(
    inner,
    "y = Σ a·b over the last dimension of both",
    samples=lambda make: [
        make.call(make(3), make(3)),
        make.call(make(2, 3), make(2, 2, 3)),
        make.call(make(2, 3), make()),
    ],
    autocast=lambda input, other: "keep" if input.ndim == other.ndim == 1 else None,
)
composite(
    kron,
    "y = the blocks aᵢⱼ·b",
    samples=lambda make: [
        make.call(make(2, 2), make(1, 3)),
        make.call(make(2), make(2, 2)),
        make.call(make(), make(2)),
        make.call(make.ints(2, 2), make.ints(2, 1)),
    ],
)
composite(
    trace,
    "y = Σ xᵢᵢ",
    samples=lambda make: [
        make.call(make(3, 3)),
        make.call(make(2, 3)),
        make.call(make(0, 0)),
        make.call(make.ints(2, 2)),
    ],
    autocast="float32",
)
