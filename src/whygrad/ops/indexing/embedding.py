"""Looking rows up in a table: the first layer of models of words."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import only
from whygrad.ops.define import define
from whygrad.ops.indexing.positions import check_bounds
from whygrad.ops.indexing.selection import require_integers
from whygrad.tensor import Tensor, alias, keys, modes

__all__ = ["lookup"]

Array = Any


def _embedding(weight: Array, index: Array, padding: int | None, by_frequency: bool) -> Array:
    _check_rows(weight, index)
    return np.take(weight, index, axis=0)


def _check_rows(weight: Array, index: Array) -> None:
    check_bounds(
        index, weight.shape[0], call="embedding", dim=0, phrase="index out of range in self: "
    )


def _embedding_rule(
    xp: Any,
    incoming: Array,
    index: Array,
    weight_shape: tuple[int, ...],
    padding: int | None,
    by_frequency: bool,
) -> Array:
    if padding is not None:
        incoming = xp.where(xp.reshape(index != padding, (*index.shape, 1)), incoming, 0.0)
    gradient = xp.index_backward(incoming, index, weight_shape, (0,))
    if not by_frequency:
        return gradient
    rows = weight_shape[0]
    once = xp.ones_like(xp.sum(incoming, (-1,), False))
    uses = xp.index_backward(once, index, (rows,), (0,))
    return gradient / xp.reshape(xp.maximum(uses, xp.ones_like(uses)), (rows, 1))


def _embedding_args(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """The rows of ``weight`` at the indices ``input``.

    ``padding_idx``
        a row that gets no gradient.
    ``max_norm``, ``norm_type``
        rows that are looked up and longer than this are first shortened, in ``weight`` itself.
    ``scale_grad_by_freq``
        divide the gradient of a row by how often it was looked up.
    ``sparse``
        accepted for PyTorch's sake: the gradient is the same, in dense memory.
    """
    require_integers(input, "embedding")
    call = f"embedding({describe(input)}, {describe(weight)}, padding_idx={padding_idx})"
    if weight.ndim != 2:
        raise fail(
            RuntimeError,
            call=call,
            cause=f"'weight' must be 2-D, not {weight.ndim}-D",
            fix="pass a table with one row per index",
        )
    rows = weight.shape[0]
    if padding_idx is not None and not -rows <= operator.index(padding_idx) < rows:
        raise fail(
            AssertionError,
            call=call,
            cause=f"Padding_idx must be within num_embeddings ({rows})",
            fix="name one of the rows, or None",
        )
    if max_norm is not None:
        _shorten(weight, input, float(max_norm), float(norm_type))
    padding = None if padding_idx is None else padding_idx % rows
    return weight, input, padding, bool(scale_grad_by_freq)


def _shorten(weight: Tensor, index: Tensor, longest: float, p: float) -> None:
    """Bring the rows at ``index`` that are longer than ``longest`` down to that, in place.

    The numbers alone: neither direction of differentiation knows of it.
    """
    _check_rows(weight._array, index._array)
    if not weight._keys & keys.BATCHED:
        weight = alias(weight)
    with modes.no_grad():
        chosen = index.unique()
        found = weight[chosen]
        lengths = found.norm(p, 1, keepdim=True)
        too_long = (lengths > longest).reshape(-1)
        if too_long.any():
            shorter = found * (longest / (lengths + 1e-7))
            weight[chosen[too_long]] = shorter[too_long]


def embedding_renorm_(input: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """Bring the rows of ``input`` at ``indices`` that are longer than ``max_norm`` down to it."""
    _shorten(input, indices, float(max_norm), float(norm_type))
    return input


_embedding_op = define(
    "embedding(weight, index; padding, by_frequency)",
    "y = the rows of weight at index;  ∂weight = incoming added up at index, 0 at padding",
    forward=_embedding,
    vjp={"weight": _embedding_rule},
    linear=True,
    meta=lambda weight, index, *_: ((*index.shape, weight.shape[1]), weight.dtype),
    batching=only("index", lambda xp, *args: xp.embedding(*args)),
    public=_embedding_args,
    torch="nn.functional.embedding",
    samples=lambda make: [
        make.call(make.ints(2, 3, high=4), make(4, 3)),
        make.call(np.array([1, 1, 0]), make(4, 3), padding_idx=-1),
        make.call(make.ints(high=4), make(4, 3)),
        make.call(np.array([2, 0]), make(4, 3), scale_grad_by_freq=True),
    ],
)


def lookup(*args: Any, **kwargs: Any) -> Tensor:
    """The op by its public arguments, for other ops."""
    found: Tensor = _embedding_op.call(*_embedding_args(*args, **kwargs))
    return found
