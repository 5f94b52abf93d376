"""Values below which a given share of the elements lies."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.define import composite, table
from whygrad.ops.geometry import normalize_dim
from whygrad.ops.reduction.shared import operand
from whygrad.tensor import Tensor, dtypes

_ROUNDED = {"lower": "floor", "higher": "ceil", "nearest": "round"}
_INTERPOLATED = ("linear", "midpoint")


def quantile(
    input: Any,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """The ``q``-th quantiles along ``dim``; with a list of them, they come first."""
    input = operand(input)
    levels = _levels(input, q, interpolation)
    axis = 0 if dim is None else normalize_dim(dim, input.ndim, "quantile")
    flat = dim is None or not input.ndim
    lanes = input.reshape(-1) if flat else input.transpose(axis, -1)
    ranks = levels.reshape(-1) * (lanes.shape[-1] - 1)
    found = _at_ranks(lanes.sort(-1).values, ranks, interpolation)
    if flat:
        return found.reshape((*levels.shape, *((1,) * input.ndim if keepdim else ())))
    found = found.transpose(axis, -1).movedim(axis, 0)
    if keepdim:
        found = found.unsqueeze(axis + 1)
    return found if levels.ndim else found.squeeze(0)


def nanquantile(
    input: Any,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """``quantile`` of what is not nan."""
    input = operand(input)
    levels = _levels(input, q, interpolation)
    axis = 0 if dim is None else normalize_dim(dim, input.ndim, "nanquantile")
    flat = dim is None or not input.ndim
    lanes = input.reshape(-1) if flat else input.transpose(axis, -1)
    ordered = lanes.sort(-1).values  # nan sorts last, so what counts is in front
    count = (ordered == ordered).sum(-1, keepdim=True)
    ranks = levels.reshape(-1) * (count - 1).clamp(min=0).to(input.dtype)

    def at(positions: Any) -> Tensor:
        return table["gather"].public(ordered, -1, positions.to(dtypes.int64))

    if interpolation in _ROUNDED:
        found = at(getattr(ranks.detach(), _ROUNDED[interpolation])())
    else:
        lower = ranks.detach().floor()
        weights = ranks - lower if interpolation == "linear" else 0.5
        found = at(lower).lerp(at(ranks.detach().ceil()), weights)
    if flat:
        return found.reshape((*levels.shape, *((1,) * input.ndim if keepdim else ())))
    found = found.transpose(axis, -1).movedim(axis, 0)
    if keepdim:
        found = found.unsqueeze(axis + 1)
    return found if levels.ndim else found.squeeze(0)


def _at_ranks(ordered: Any, ranks: Any, interpolation: str) -> Tensor:
    """Values of sorted lanes at positions that may lie between two elements."""

    def at(positions: Any) -> Tensor:
        return table["index_select"].call(ordered, positions.to(dtypes.int64), ordered.ndim - 1)

    if interpolation in _ROUNDED:
        found = at(getattr(ranks.detach(), _ROUNDED[interpolation])())
    else:
        lower = ranks.detach().floor()
        weights = ranks - lower if interpolation == "linear" else 0.5
        found = at(lower).lerp(at(ranks.detach().ceil()), weights)
    last = ordered[..., -1:]
    return table["where"].call(last != last, last, found)  # NaN sorts last and spoils its lane


def _levels(input: Tensor, q: Any, interpolation: str) -> Tensor:
    """``q`` as a tensor of the input's dtype; everything that can be wrong is found here."""

    def refuse(kind: type[Exception], cause: str, fix: str) -> Exception:
        return fail(kind, call=f"quantile(…, q={q!r})", cause=cause, fix=fix)

    if input.dtype not in (dtypes.float32, dtypes.float64):
        raise refuse(
            RuntimeError,
            f"quantile() input tensor must be either float or double dtype, not {input.dtype}",
            "convert first: x.to(whygrad.float32)",
        )
    if not input.numel():
        raise refuse(
            RuntimeError,
            f"quantile() input tensor must be non-empty, not {describe(input)}",
            "skip empty batches",
        )
    if interpolation not in (*_ROUNDED, *_INTERPOLATED):
        raise refuse(
            RuntimeError,
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}",
            "pass interpolation='linear'",
        )
    if isinstance(q, (int, float)):
        q = Tensor._from_number(q, input.dtype).to(input.device)
    elif not isinstance(q, Tensor):
        raise refuse(
            TypeError,
            f"q must be a float or a tensor, not {type(q).__name__}",
            "pass whygrad.tensor(q)",
        )
    if q.ndim > 1:
        raise refuse(
            RuntimeError,
            f"quantile() q must be a scalar or 1D tensor, not {describe(q)}",
            "flatten it: q.reshape(-1)",
        )
    if q.dtype is not input.dtype:
        raise refuse(
            RuntimeError,
            f"quantile() q tensor must be same dtype as the input tensor: {q.dtype} against "
            f"{input.dtype}",
            "convert it: q.to(x.dtype)",
        )
    if q.device == "cpu" and not np.all((q._array >= 0) & (q._array <= 1)):
        raise refuse(
            RuntimeError,
            "quantile() q values must be in the range [0, 1]",
            "pass shares, not percentages: 0.25 for the first quartile",
        )
    return q


composite(
    quantile,
    "y = the value with a share q of the elements below it, between two neighbours by lerp",
    samples=lambda make: [
        make.call(make.distinct(3, 4), 0.3),
        make.call(make.distinct(3, 4), 0.3, 1),
        make.call(make.distinct(3, 4), make.constant(np.array([0.1, 0.5, 1.0])), 0, True),
        make.call(make.distinct(2, 3, 4), make.constant(np.array([0.1, 0.5])), dim=-2),
        make.call(make.distinct(5), make.constant(np.array(0.6)), keepdim=True),
        make.call(make.distinct(5), 0.4, interpolation="lower"),
        make.call(make.distinct(5), 0.4, interpolation="higher"),
        make.call(make.distinct(5), 0.4, interpolation="nearest"),
        make.call(make.distinct(5), 0.4, 0, True, interpolation="midpoint"),
        make.call(make.constant(np.array([[1.0, np.nan, 2.0], [3.0, 1.0, 2.0]])), 0.4, dim=1),
        make.call(make(), 0.5),
    ],
    autocast="float32",
)
composite(
    nanquantile,
    "y = the quantile of the elements that are not nan",
    samples=lambda make: [
        make.call(make.distinct(3, 4), 0.3),
        make.call(make.constant(np.array([[1.0, np.nan, 2.0], [3.0, 1.0, 2.0]])), 0.4, dim=1),
        make.call(make.distinct(3, 4), make.constant(np.array([0.1, 0.5, 1.0])), 0, True),
        make.call(make.constant(np.array([1.0, np.nan, 2.0, 0.5])), 0.4, interpolation="nearest"),
        make.call(make.constant(np.array([[np.nan, np.nan], [3.0, 1.0]])), 0.5, dim=1),
    ],
    autocast="float32",
)
