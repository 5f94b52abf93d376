"""Covariances, slopes along a grid, areas: what is computed from sums of neighbours or of rows."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.define import composite, table
from whygrad.ops.geometry import normalize_dim, normalize_dims
from whygrad.ops.inquiries import holds_somewhere
from whygrad.ops.namespace import recorded
from whygrad.tensor import Tensor, dtypes

# What renorm adds to a norm before it divides by it: PyTorch's.
_RENORM_EPSILON = 1e-7


def _refuse(call: str, cause: str, fix: str) -> RuntimeError:
    return fail(RuntimeError, call=call, cause=cause, fix=fix)


def cov(
    input: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """The covariance of the rows, which are variables, over the columns, which are observations.

    ``fweights`` says how often an observation was made, ``aweights`` how much it counts.
    """
    correction = operator.index(correction)
    call = f"cov({describe(input)})"
    if input.ndim > 2:
        raise _refuse(
            call,
            f"cov(): expected input to have two or fewer dimensions but got {input.ndim}",
            "flatten it to (variables, observations)",
        )
    if input.dtype is dtypes.bool_:
        raise _refuse(call, "cov(): bool dtype is not supported for input", "convert: x.float()")
    rows = input.reshape(1, -1) if input.ndim < 2 else input
    count = rows.shape[1]
    weights = _observation_weights(call, count, fweights, aweights)
    total: Any = count if weights is None else weights.sum()
    if weights is not None and holds_somewhere(total == 0):
        cause = "cov(): weights sum to zero, can't be normalized"
        raise _refuse(call, cause, "give at least one observation a positive weight")
    if weights is not None:
        centered = rows - (rows * weights).sum(1, keepdim=True) / total
    elif rows.dtype.is_floating_point:
        centered = recorded.deviation(rows, (1,))
    else:
        centered = rows - rows.sum(1, keepdim=True) / total
    if weights is not None and aweights is not None and correction:
        norm = total - correction * (weights * aweights).sum() / total
    else:
        norm = total - correction
    norm = norm.clamp(min=0) if isinstance(norm, Tensor) else max(norm, 0)
    weighed = centered if weights is None else centered * weights
    product = table["matmul"].public(centered, weighed.t().conj())
    return (product / norm).squeeze()


def _observation_weights(
    call: str, count: int, fweights: Tensor | None, aweights: Tensor | None
) -> Tensor | None:
    for name, each, whole in (("fweights", fweights, True), ("aweights", aweights, False)):
        if each is None:
            continue
        cause = ""
        if each.ndim > 1:
            cause = f"cov(): expected {name} to have one or fewer dimensions but got {each.ndim}"
        elif (each.dtype.category == dtypes.INTEGER) != whole:
            kind = "integral" if whole else "floating point"
            cause = f"cov(): expected {name} to have {kind} dtype but got {each.dtype.name}"
        elif each.numel() != count:
            cause = (
                f"cov(): expected {name} to have the same numel as there are observations in the "
                f"input but got {each.numel()} != {count}"
            )
        elif holds_somewhere(each < 0):
            cause = f"cov(): {name} cannot be negative"
        if cause:
            raise _refuse(call, cause, "pass one weight per column, not negative")
    if fweights is None or aweights is None:
        return aweights if fweights is None else fweights
    return fweights * aweights


def corrcoef(input: Tensor) -> Tensor:
    """Pearson's correlation of the rows over the columns."""
    if input.ndim > 2:
        raise _refuse(
            f"corrcoef({describe(input)})",
            f"corrcoef(): expected input to have two or fewer dimensions but got {input.ndim}",
            "flatten it to (variables, observations)",
        )
    together = cov(input)
    if not together.ndim:
        return together / together
    deviation = table["diagonal"].public(together).real.sqrt()
    scaled = together / deviation.unsqueeze(-1) / deviation.unsqueeze(0)
    if scaled.dtype.is_complex:
        return scaled
    return scaled.clamp(-1, 1)


composite(
    cov,
    "y = Σ w·(xᵢ − mean)(xⱼ − mean) / (Σ w − correction)",
    samples=lambda make: [
        make.call(make(3, 5)),
        make.call(make(5), correction=0),
        make.call(make(2, 4), fweights=make.ints(4, low=1)),
        make.call(make(2, 4), aweights=make.constant(make(4, low=0.2))),
        make.call(
            make(2, 4), fweights=make.ints(4, low=1), aweights=make.constant(make(4, low=0.2))
        ),
        make.call(make.ints(2, 4)),
    ],
)
composite(
    corrcoef,
    "y = cov x divided by the standard deviations of rows and columns",
    samples=lambda make: [make.call(make(3, 5)), make.call(make(4))],
)


def gradient(
    input: Tensor, *, spacing: Any = None, dim: Any = None, edge_order: int = 1
) -> list[Tensor]:
    """Slopes along each dimension: central differences inside, one-sided ones at the borders.

    ``spacing`` is the distance of neighbours, one for all or one per dimension, or a list of
    tensors with the coordinates themselves.
    """
    call = f"gradient({describe(input)}, edge_order={edge_order})"
    if operator.index(edge_order) not in (1, 2):
        raise _refuse(
            call, "gradient only supports edge_order=1 and edge_order=2", "pass one of the two"
        )
    dims = tuple(range(input.ndim)) if dim is None else normalize_dims(dim, input.ndim, "gradient")
    steps = _spacings(call, spacing, len(dims))
    for each in dims:
        if input.shape[each] <= edge_order:
            raise _refuse(
                call,
                "gradient expected each dimension size to be at least edge_order+1",
                "leave short dimensions out with dim=",
            )
    return [_slope_along(input, each, step, edge_order) for each, step in zip(dims, steps)]


def _spacings(call: str, spacing: Any, count: int) -> list[Any]:
    if spacing is None:
        return [1.0] * count
    if isinstance(spacing, (int, float)):
        return [float(spacing)] * count
    given = [spacing] if isinstance(spacing, Tensor) else list(spacing)
    if len(given) != count:
        raise _refuse(
            call,
            f"gradient expected spacing to be unspecified, a scalar, or a list of length {count}, "
            f"but got a list of length {len(given)}",
            "pass one entry per dimension",
        )
    return given


def _slope_along(input: Tensor, dim: int, step: Any, edge_order: int) -> Tensor:
    x = input if input.dtype.category >= dtypes.FLOAT else input.to(dtypes.get_default_dtype())
    size = x.shape[dim]

    def at(start: int, length: int = 1) -> Tensor:
        return x.narrow(dim, start % size, length)

    if isinstance(step, Tensor):
        gaps = (step[1:] - step[:-1]).reshape(-1, *(1,) * (x.ndim - dim - 1))
        low, high = gaps[:-1], gaps[1:]
        inside = (
            at(0, size - 2) * (-high / (low * (low + high)))
            + at(1, size - 2) * ((high - low) / (low * high))
            + at(2, size - 2) * (low / (high * (low + high)))
        )
        first, second, last, before = gaps[:1], gaps[1:2], gaps[-1:], gaps[-2:-1]
    else:
        inside = (at(2, size - 2) - at(0, size - 2)) / (2 * step)
        first = second = last = before = step
    if edge_order == 1:
        start, end = (at(1) - at(0)) / first, (at(-1) - at(-2)) / last
    else:
        start = (
            at(0) * (-(2 * first + second) / (first * (first + second)))
            + at(1) * ((first + second) / (first * second))
            + at(2) * (-first / (second * (first + second)))
        )
        end = (
            at(-3) * (last / (before * (before + last)))
            + at(-2) * (-(before + last) / (before * last))
            + at(-1) * ((2 * last + before) / (last * (before + last)))
        )
    return table["cat"].public([start, inside, end], dim)


composite(
    gradient,
    "y = (x[i+1] − x[i−1]) / 2h inside, one-sided at the borders, along each dimension",
    method=False,
    samples=lambda make: [
        make.call(make(5)),
        make.call(make(4, 3), spacing=0.5, dim=0),
        make.call(make(4, 3), edge_order=2),
        make.call(make(4, 3), spacing=[2.0, 0.5], dim=(1, 0)),
        make.call(make(4), spacing=(make.constant(np.array([0.0, 1.0, 1.5, 3.0])),)),
        make.call(make(4), spacing=(make.constant(np.array([0.0, 1.0, 1.5, 3.0])),), edge_order=2),
        make.call(make.ints(5)),
    ],
)


def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Slices along ``dim`` whose p-norm exceeds ``maxnorm`` are scaled down to it."""
    call = f"renorm({describe(input)}, p={p}, dim={dim}, maxnorm={maxnorm})"
    if p <= 0:
        raise _refuse(call, "renorm: non-positive-norm not supported", "pass p=2, for example")
    if maxnorm < 0:
        raise _refuse(
            call, f"renorm: expected maxnorm to be >= 0 but got {maxnorm}", "pass a length"
        )
    if input.ndim < 2:
        raise _refuse(
            call,
            f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions",
            "unsqueeze(0) it first",
        )
    axis = normalize_dim(dim, input.ndim, "renorm")
    others = tuple(each for each in range(input.ndim) if each != axis)
    length = table["linalg_vector_norm"].public(input, p, others, True)
    scale = maxnorm / (length + _RENORM_EPSILON)
    return input * table["where"].public(length > maxnorm, scale, 1.0)


def msort(input: Tensor) -> Tensor:
    """Sorted along the first dimension."""
    values: Tensor = table["sort"].public(input, 0).values
    return values


def frobenius_norm(input: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
    """The root of the sum of squares over ``dim``."""
    return table["linalg_vector_norm"].public(input, 2, dim or None, keepdim)


def nuclear_norm(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """The sum of the singular values."""
    if isinstance(dim, bool):
        dim, keepdim = None, dim
    planes = (-2, -1) if dim is None else tuple(dim)
    return table["linalg_matrix_norm"].public(input, "nuc", planes, keepdim)


def norm_except_dim(v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    """The norm over all dimensions but one, which keep size 1; −1: over all."""
    pow = operator.index(pow)
    if dim == -1:
        return table["norm"].public(v, pow)
    rows = v.transpose(0, dim).reshape(v.shape[dim], -1)
    lengths = table["norm"].public(rows, pow, 1)
    return lengths.view(-1, *(1,) * (v.ndim - 1)).transpose(0, dim)


composite(
    renorm,
    "y = x·min(1, maxnorm/|x|) per slice along dim",
    inplace=True,
    samples=lambda make: [
        make.call(make(3, 4), 2, 0, 1.5),
        make.call(make(3, 4, 2), 1, -1, 5.0),
        make.call(make(3, 2), 3.0, 1, 100.0),
    ],
)
composite(
    msort,
    "y = x sorted along its first dimension",
    samples=lambda make: [make.call(make.distinct(4, 3)), make.call(make.distinct(5))],
)
composite(
    frobenius_norm,
    "y = √Σ x² over dim",
    method=False,
    torch="",  # deprecated there, with a warning
    samples=lambda make: [make.call(make(3, 4), (0, 1)), make.call(make(3, 4), 1, True)],
)
composite(
    nuclear_norm,
    "y = Σ of the singular values",
    method=False,
    torch="",  # deprecated there, with a warning
    samples=lambda make: [make.call(make(3, 2)), make.call(make(2, 3, 2), (0, 1), True)],
)
composite(
    norm_except_dim,
    "y = the norm over all dimensions but one",
    method=False,
    samples=lambda make: [make.call(make(3, 4), 2, 0), make.call(make(3, 4, 2), 2, 1)],
)
