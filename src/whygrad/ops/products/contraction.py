"""Sums of products over named dimensions: what einsum and its relatives run on.

A contraction is planned once per set of shapes and then remembered.  The plan first makes every
operand plain (diagonals taken, lonely dimensions summed, stretched ones dropped), then contracts
two operands at a time.  So there is one primitive, ``einsum_pair``: it is lowered to a batched
matrix product, and each of its gradients is another ``einsum_pair``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import prod
from string import ascii_letters
from typing import Any, NamedTuple

import numpy as np

from whygrad.errors import fail
from whygrad.ops.define import define
from whygrad.ops.namespace import recorded
from whygrad.ops.products.products import add_terms, multiply
from whygrad.tensor import Tensor, dtypes

__all__ = ["contract"]

Array = Any
Shape = tuple[int, ...]
Dims = tuple[int, ...]


class _Lowering(NamedTuple):
    """How one pair becomes a matrix product: dimension orders and how many of each role."""

    left: Dims  # batch, rows, summed; or batch, summed, rows if that is how they lie in memory
    left_flipped: bool
    right: Dims  # batch, summed, columns; or batch, columns, summed
    right_flipped: bool
    batch: int
    rows: int
    summed: int
    result: Dims  # from (batch, rows, columns) to the order asked for


@lru_cache(maxsize=512)
def _lower(equation: str) -> _Lowering:
    inputs, output = equation.split("->")
    left, right = inputs.split(",")
    batch = [letter for letter in left if letter in right and letter in output]
    summed = [letter for letter in left if letter in right and letter not in output]
    rows = [letter for letter in left if letter not in right]
    columns = [letter for letter in right if letter not in left]
    # Whichever group comes first in memory stays first: the other order would cost a copy, while
    # a transposed matrix costs BLAS nothing.
    left_flipped = bool(summed) and bool(rows) and left.index(summed[0]) < left.index(rows[0])
    right_flipped = (
        bool(summed) and bool(columns) and right.index(columns[0]) < right.index(summed[0])
    )
    left_order = batch + (summed + rows if left_flipped else rows + summed)
    right_order = batch + (columns + summed if right_flipped else summed + columns)
    made = batch + rows + columns
    return _Lowering(
        tuple(map(left.index, left_order)),
        left_flipped,
        tuple(map(right.index, right_order)),
        right_flipped,
        len(batch),
        len(rows),
        len(summed),
        tuple(map(made.index, output)),
    )


def _einsum_pair(a: Array, b: Array, equation: str) -> Array:
    plan = _lower(equation)
    a, b = a.transpose(plan.left), b.transpose(plan.right)
    batch = a.shape[: plan.batch]
    rows, summed = _split(a.shape[plan.batch :], plan.left_flipped, plan.rows, plan.summed)
    count = len(b.shape) - plan.batch - plan.summed
    columns, _ = _split(b.shape[plan.batch :], not plan.right_flipped, count, plan.summed)
    if summed:
        if a.dtype == bool:
            raise fail(
                NotImplementedError,
                call=f"einsum of bools, {equation!r} of shapes {a.shape} and {b.shape}",
                cause="sums of products are not implemented for bool",
                fix="convert first, x.to(whygrad.int64), to count; or combine with & and any()",
            )
        depth = prod(summed)
        left = _as_matrices(a, batch, prod(rows), depth, plan.left_flipped)
        right = _as_matrices(b, batch, depth, prod(columns), plan.right_flipped)
        product = multiply(left, right)
    else:
        left = a.reshape((*batch, *rows, *(1,) * len(columns)))
        right = b.reshape((*batch, *(1,) * len(rows), *columns))
        product = left * right
    return product.reshape((*batch, *rows, *columns)).transpose(plan.result)


def _split(shape: Shape, summed_first: bool, free: int, summed: int) -> tuple[Shape, Shape]:
    """The sizes of the free and of the summed dimensions."""
    if summed_first:
        return shape[summed:], shape[:summed]
    return shape[:free], shape[free:]


def _as_matrices(x: Array, batch: Shape, rows: int, columns: int, flipped: bool) -> Array:
    if flipped:
        return x.reshape(*batch, columns, rows).swapaxes(-1, -2)
    return x.reshape(*batch, rows, columns)


def _pair_meta(a: Array, b: Array, equation: str) -> tuple[Shape, Any]:
    inputs, output = equation.split("->")
    sizes = dict(zip(inputs.replace(",", ""), (*a.shape, *b.shape), strict=True))
    return tuple(sizes[letter] for letter in output), a.dtype


def _left_gradient(xp: Any, incoming: Array, b: Array, equation: str) -> Array:
    left, right, output = _terms(equation)
    return xp.einsum_pair(incoming, b, f"{output},{right}->{left}")


def _right_gradient(xp: Any, incoming: Array, a: Array, equation: str) -> Array:
    left, right, output = _terms(equation)
    return xp.einsum_pair(a, incoming, f"{left},{output}->{right}")


def _terms(equation: str) -> list[str]:
    return equation.replace("->", ",").split(",")


def _pair_tangent(xp: Any, tangents: Any, a: Array, b: Array, equation: str) -> Array:
    da, db = tangents
    return add_terms(
        None if da is None else xp.einsum_pair(da, b, equation),
        None if db is None else xp.einsum_pair(a, db, equation),
    )


def _pair_of_batch(xp: Any, a: Array, b: Array, equation: str, batched: tuple[bool, ...]) -> Array:
    letter = next(each for each in ascii_letters if each not in equation)
    left, right, output = _terms(equation)
    left, right = (letter * carries + term for carries, term in zip(batched, (left, right)))
    return xp.einsum_pair(a, b, f"{left},{right}->{letter}{output}")


define(
    "einsum_pair(a, b; equation)",
    "y = Σ a·b over the letters that equation leaves out;  "
    "∂a = Σ incoming·b,  ∂b = Σ a·incoming with the letters exchanged",
    complex_rule="holomorphic",
    forward=_einsum_pair,
    vjp={"a": _left_gradient, "b": _right_gradient},
    jvp=_pair_tangent,
    promote="same",
    meta=_pair_meta,
    batching=_pair_of_batch,
    internal=True,
    autocast=lambda a, b, equation: "lower" if _lower(equation).summed else None,
    notes="every letter is in two of the three terms and at most once in each; see einsum",
    samples=lambda make: [
        make.call(make(2, 3), make(3, 4), "ij,jk->ik"),
        make.call(make(3, 2), make(4, 3), "ji,kj->ki"),
        make.call(make(2, 3), make(2, 3), "ij,ij->ij"),
        make.call(make(2, 3), make(4), "ij,k->kij"),
        make.call(make(2, 3, 2), make(2, 2, 2, 2), "bij,cbkj->bick"),
        make.call(make(2, 3), make(3, 2), "ij,ji->"),
        make.call(make(2, 0), make(0, 2), "ij,jk->ik"),
    ],
)


class _Step(NamedTuple):
    """Make one operand plain: ``op`` with these parameters."""

    operand: int
    op: str
    params: tuple[Any, ...]


class _Plan(NamedTuple):
    steps: tuple[_Step, ...]
    pairs: tuple[tuple[int, int, str], ...]  # both are taken off the list, the result is appended
    order: Dims  # of a single operand's dimensions


def contract(
    operands: Sequence[Tensor], labels: Sequence[str], output: str, *, widen: bool = False
) -> Tensor:
    """Σ Π operands: one letter per dimension, sizes of 1 broadcast.

    ``widen``: a dimension that one operand has alone is summed as ``sum`` does it, integers in
    int64.
    """
    plan = _plan(tuple(labels), output, tuple(tuple(each.shape) for each in operands))
    waiting = list(operands)
    for operand, op, params in plan.steps:
        given = waiting[operand]
        if widen and op == "sum" and given.dtype.category < dtypes.FLOAT:
            given = given.to(dtypes.int64)
        waiting[operand] = getattr(recorded, op)(given, *params)
    for first, second, equation in plan.pairs:
        right, left = waiting.pop(second), waiting.pop(first)
        waiting.append(recorded.einsum_pair(left, right, equation))
    (result,) = waiting
    return result if plan.pairs else recorded.permute(result, plan.order)


@lru_cache(maxsize=512)
def _plan(labels: tuple[str, ...], output: str, shapes: tuple[Shape, ...]) -> _Plan:
    sizes: dict[str, int] = {}
    for letters, shape in zip(labels, shapes, strict=True):
        for letter, size in zip(letters, shape, strict=True):
            if sizes.get(letter, 1) == 1:
                sizes[letter] = size
    steps: list[_Step] = []
    plain = [
        _make_plain(operand, letters, shape, sizes, steps)
        for operand, (letters, shape) in enumerate(zip(labels, shapes, strict=True))
    ]
    for operand, letters in enumerate(plain):
        elsewhere = output + "".join(plain[:operand] + plain[operand + 1 :])
        lonely = tuple(dim for dim, letter in enumerate(letters) if letter not in elsewhere)
        if lonely:
            steps.append(_Step(operand, "sum", (lonely, False)))
            plain[operand] = "".join(letter for letter in letters if letter in elsewhere)
    if len(plain) == 1:
        return _Plan(tuple(steps), (), tuple(map(plain[0].index, output)))
    return _Plan(tuple(steps), tuple(_pairs(plain, output, sizes)), ())


def _make_plain(
    operand: int, letters: str, shape: Shape, sizes: dict[str, int], steps: list[_Step]
) -> str:
    """Take diagonals of repeated letters and drop dimensions of size 1 that others stretch."""
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            first, second = letters.index(letter), letters.rindex(letter)
            steps.append(_Step(operand, "diagonal", (0, first, second)))
            kept = [dim for dim in range(len(letters)) if dim not in (first, second)]
            shape = (*(shape[dim] for dim in kept), shape[first])
            letters = "".join(letters[dim] for dim in kept) + letter
    stretched = tuple(dim for dim, letter in enumerate(letters) if shape[dim] == 1 != sizes[letter])
    if stretched:
        steps.append(_Step(operand, "squeeze", (stretched,)))
    return "".join(letter for dim, letter in enumerate(letters) if dim not in stretched)


def _pairs(plain: list[str], output: str, sizes: dict[str, int]) -> Iterator[tuple[int, int, str]]:
    """Which two operands to contract next, and how."""
    waiting = list(plain)
    for group in _groups(plain, output, sizes):
        positions = sorted(group)
        while len(positions) > 1:
            first, second, *rest = positions
            right, left = waiting.pop(second), waiting.pop(first)
            wanted = output + "".join(waiting)
            both = left + "".join(letter for letter in right if letter not in left)
            made = "".join(letter for letter in both if letter in wanted) if waiting else output
            waiting.append(made)
            yield first, second, f"{left},{right}->{made}"
            positions = [position - 2 for position in rest] + [len(waiting) - 1]


def _groups(plain: list[str], output: str, sizes: dict[str, int]) -> Sequence[tuple[int, ...]]:
    """The order of contraction: NumPy's greedy search, if there is a choice at all."""
    if len(plain) == 2:
        return [(0, 1)]
    cell = np.empty(())
    shaped = [np.broadcast_to(cell, [sizes[letter] for letter in term]) for term in plain]
    path, _ = np.einsum_path(f"{','.join(plain)}->{output}", *shaped, optimize="greedy")
    return path[1:]
