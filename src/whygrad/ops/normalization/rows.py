"""Normalisation of each sample by itself, over its last dimensions: layer norm and RMS norm.

The kernels see the input as a matrix with one row per sample.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.activation.smooth import ONLY_FLOATS
from whygrad.ops.batching import align, repeat_over
from whygrad.ops.define import define, public_form
from whygrad.ops.namespace import on_arrays, raw
from whygrad.ops.normalization.statistics import (
    MixedPrecision,
    check_dtype,
    only_from_first,
    pull,
    push,
    standardized_rows,
)
from whygrad.ops.totals import add_columns, dot_rows
from whygrad.tensor import Tensor, dtypes

Array = Any
Dims = tuple[int, ...]
Shape = tuple[int, ...]


def _as_rows(x: Array, rank: int) -> Array:
    """A matrix whose rows are the last ``rank`` dimensions."""
    kept = x.ndim - rank
    return x.reshape(prod(x.shape[:kept]), prod(x.shape[kept:]))


def _last_dims(x: Array, rank: int) -> Dims:
    return tuple(range(x.ndim - rank, x.ndim))


def _with_ones(shape: Shape, rank: int) -> Shape:
    """The shape of one statistic per row."""
    return (*shape[: len(shape) - rank], *(1,) * rank)


def _affine(out: Array, weight: Array | None, bias: Array | None) -> None:
    if weight is not None:
        out *= weight.reshape(-1)
    if bias is not None:
        out += bias.reshape(-1)


def _layer_norm(
    x: Array, weight: Array | None, bias: Array | None, rank: int, eps: float
) -> tuple[Array, Array, Array]:
    out, mean, var = standardized_rows(_as_rows(x, rank), eps)
    _affine(out, weight, bias)
    kept = _with_ones(x.shape, rank)
    return out.reshape(x.shape), mean.reshape(kept), var.reshape(kept)


def _layer_norm_rule(
    xp: Any, incoming: Any, x: Array, weight: Array | None, mean: Array, var: Array,
    needs: tuple[bool, ...], rank: int, eps: float,
) -> tuple[Array | None, ...]:  # fmt: skip
    from_y = incoming[0]
    if xp is raw and only_from_first(incoming):
        return xp.layer_norm_backward(from_y, x, weight, mean, var, needs, rank, eps)
    gradient, of_weight = pull(xp, incoming, x, weight, mean, var, _last_dims(x, rank), eps)
    return gradient, of_weight, from_y


@on_arrays
def layer_norm_backward(
    incoming: Array, x: Array, weight: Array | None, mean: Array, var: Array,
    needs: tuple[bool, ...], rank: int, eps: float,
) -> tuple[Array | None, ...]:  # fmt: skip
    """The rule of ordinary backward: ``pull`` in place, and summed over the rows."""
    arrived, rows = _as_rows(incoming, rank), _as_rows(x, rank)
    count = rows.shape[1]
    scale = np.ones(count, x.dtype) if weight is None else weight.reshape(count)
    spread = 1.0 / np.sqrt(var.reshape(-1, 1) + eps)
    standard = rows - mean.reshape(-1, 1)
    standard *= spread
    work = arrived * standard
    of_weight = add_columns(work).reshape(x.shape[x.ndim - rank :]) if needs[1] else None
    of_bias = add_columns(arrived).reshape(x.shape[x.ndim - rank :]) if needs[2] else None
    if not needs[0]:
        return None, of_weight, of_bias
    standard *= dot_rows(work, scale)[:, None] / count
    gradient = np.multiply(arrived, scale, out=work)
    gradient -= standard
    gradient -= dot_rows(arrived, scale)[:, None] / count
    gradient *= spread
    return gradient.reshape(x.shape), of_weight, of_bias


def _layer_norm_jvp(
    xp: Any, tangents: Any, x: Array, weight: Array | None, mean: Array, var: Array,
    rank: int, eps: float,
) -> Any:  # fmt: skip
    return push(xp, tangents, x, weight, mean, var, _last_dims(x, rank), eps)


def _layer_norm_of_batch(
    xp: Any, x: Array, weight: Array | None, bias: Array | None, rank: int, eps: float,
    batched: tuple[bool, ...], batch: int,
) -> Any:  # fmt: skip
    if batched == (True, False, False):
        return xp.layer_norm(x, weight, bias, rank, eps)
    x = x if batched[0] else repeat_over(x, batch)
    y, mean, var = xp.layer_norm(x, None, None, rank, eps)
    if weight is not None:
        y = y * (align(weight, x.ndim - 1) if batched[1] else weight)
    if bias is not None:
        y = y + (align(bias, x.ndim - 1) if batched[2] else bias)
    return y, mean, var


def _layer_norm_meta(x: Array, weight: Any, bias: Any, rank: int, eps: float) -> list[Any]:
    kept = _with_ones(x.shape, rank)
    return [(x.shape, x.dtype), (kept, x.dtype), (kept, x.dtype)]


_layer_norm_op = define(
    "layer_norm(x, weight, bias; rank, eps)",
    "x̂ = (x − mean)/√(var + ε) over the last dimensions, y = x̂·weight + bias;  with w = incoming·"
    "weight: ∂x = (w − mean(w) − x̂·mean(w·x̂))/√(var + ε),  ∂weight = incoming·x̂,  ∂bias = incoming",
    forward=_layer_norm,
    vjp=_layer_norm_rule,
    joined=("x", "weight", "bias"),
    jvp=_layer_norm_jvp,
    outputs=("y", "mean", "var"),
    returned=1,
    meta=_layer_norm_meta,
    batching=_layer_norm_of_batch,
    refuses=ONLY_FLOATS,
    torch="nn.functional.layer_norm",
    samples=lambda make: [
        make.call(make(3, 4), (4,), make(4), make(4)),
        make.call(make(2, 3, 4), (3, 4), make(3, 4), make(3, 4)),
        make.call(make(3, 4), [4]),
        make.call(make(2, 3, 4), (4,), weight=make(4), eps=0.1),
        make.call(make(3, 4), (4,), None, make(4)),
        make.call(make(5), (5,), make(5), make(5)),
        make.call(make(3, 4), (4,), make.constant(make(4)), make(4)),
        make.call(make.constant(make(3, 4)), (4,), make(4), make(4)),
        make.call(make(0, 4), (4,), make(4), make(4)),
        make.call(make(3, 0), (0,), make(0), make(0)),
    ],
)


@public_form(_layer_norm_op)
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Mean 0 and variance 1 over the last dimensions, which ``normalized_shape`` repeats."""
    try:
        rank = _checked_rank("layer_norm", input, normalized_shape, weight=weight, bias=bias)
    except MixedPrecision:
        return layer_norm(input.float(), normalized_shape, weight, bias, eps).to(input.dtype)
    normalized: Tensor = _layer_norm_op.call(input, weight, bias, rank, float(eps))[0]
    return normalized


def _rms_norm(x: Array, weight: Array | None, rank: int, eps: float) -> tuple[Array, Array]:
    rows = _as_rows(x, rank)
    power = dot_rows(rows, rows)[:, None]
    power /= rows.shape[1]
    out = rows * (1.0 / np.sqrt(power + eps))
    _affine(out, weight, None)
    return out.reshape(x.shape), power.reshape(_with_ones(x.shape, rank))


def _rms_norm_rule(
    xp: Any, incoming: Any, x: Array, weight: Array | None, power: Array,
    needs: tuple[bool, ...], rank: int, eps: float,
) -> tuple[Array | None, Array | None]:  # fmt: skip
    from_y, from_power = incoming
    if xp is raw and only_from_first(incoming):
        return _pull_powers(from_y, x, weight, power, needs, rank, eps)
    dims = _last_dims(x, rank)
    gradient, of_weight = xp.zeros_like(x), None
    if from_y is not None:
        spread = xp.rsqrt(power + eps)
        standard = x * spread
        of_weight = from_y * standard
        wanted = from_y if weight is None else from_y * weight
        gradient = spread * (wanted - standard * xp.mean(wanted * standard, dims, True))
    if from_power is not None:
        gradient = gradient + x * from_power * (2.0 / max(prod(x.shape[dim] for dim in dims), 1))
    return gradient, of_weight


def _pull_powers(
    incoming: Array, x: Array, weight: Array | None, power: Array,
    needs: tuple[bool, ...], rank: int, eps: float,
) -> tuple[Array | None, Array | None]:  # fmt: skip
    """The rule of ordinary backward, in place and summed over the rows."""
    arrived, rows = _as_rows(incoming, rank), _as_rows(x, rank)
    count = rows.shape[1]
    scale = np.ones(count, x.dtype) if weight is None else weight.reshape(count)
    spread = 1.0 / np.sqrt(power.reshape(-1, 1) + eps)
    standard = rows * spread
    work = arrived * standard
    of_weight = None
    if needs[1]:
        of_weight = add_columns(work).reshape(x.shape[x.ndim - rank :])
    if not needs[0]:
        return None, of_weight
    standard *= dot_rows(work, scale)[:, None] / count
    gradient = np.multiply(arrived, scale, out=work)
    gradient -= standard
    gradient *= spread
    return gradient.reshape(x.shape), of_weight


def _rms_norm_jvp(
    xp: Any, tangents: Any, x: Array, weight: Array | None, power: Array, rank: int, eps: float
) -> tuple[Array, Array]:
    x_tangent, weight_tangent = tangents
    spread = xp.rsqrt(power + eps)
    if x_tangent is None:
        x_tangent = xp.zeros_like(x)
    of_power = 2.0 * xp.mean(x * x_tangent, _last_dims(x, rank), True)
    of_y = spread * (x_tangent - 0.5 * x * spread * spread * of_power)
    if weight is not None:
        of_y = of_y * weight
    if weight_tangent is not None:
        of_y = of_y + x * spread * weight_tangent
    return of_y, of_power


def _rms_norm_of_batch(
    xp: Any, x: Array, weight: Array | None, rank: int, eps: float,
    batched: tuple[bool, ...], batch: int,
) -> Any:  # fmt: skip
    if batched == (True, False):
        return xp.rms_norm(x, weight, rank, eps)
    y, power = xp.rms_norm(x if batched[0] else repeat_over(x, batch), None, rank, eps)
    return y * align(weight, y.ndim - 1), power


_rms_norm_op = define(
    "rms_norm(x, weight; rank, eps)",
    "x̂ = x/√(mean(x²) + ε) over the last dimensions, y = x̂·weight;  with w = incoming·weight: "
    "∂x = (w − x̂·mean(w·x̂))/√(mean(x²) + ε),  ∂weight = incoming·x̂",
    forward=_rms_norm,
    vjp=_rms_norm_rule,
    jvp=_rms_norm_jvp,
    outputs=("y", "power"),
    returned=1,
    meta=lambda x, weight, rank, eps: [
        (x.shape, x.dtype),
        (_with_ones(x.shape, rank), x.dtype),
    ],
    batching=_rms_norm_of_batch,
    refuses=ONLY_FLOATS,
    torch="nn.functional.rms_norm",
    samples=lambda make: [
        make.call(make(3, 4), (4,), make(4)),
        make.call(make(2, 3, 4), (3, 4), make(3, 4), 0.1),
        make.call(make(3, 4), [4], eps=1e-5),
        make.call(make(5), (5,), make(5)),
        make.call(make.constant(make(3, 4)), (4,), make(4)),
        make.call(make(3, 4), (4,), make.constant(make(4))),
        make.call(make(0, 4), (4,), make(4)),
    ],
)


@public_form(_rms_norm_op)
def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Root mean square 1 over the last dimensions, which ``normalized_shape`` repeats.

    ``eps`` is the precision of the dtype unless given.
    """
    if eps is None:
        continuous = input.dtype.is_floating_point or input.dtype.is_complex
        eps = dtypes.finfo(input.dtype).eps if continuous else 0.0
    try:
        rank = _checked_rank("rms_norm", input, normalized_shape, weight=weight)
    except MixedPrecision:
        return rms_norm(input.float(), normalized_shape, weight, eps).to(input.dtype)
    if input.dtype.is_complex:  # as PyTorch does: the mean of x², not of |x|²
        power = (input * input).mean(_last_dims(input, rank), keepdim=True)
        standard = input * (power + eps).rsqrt()
        return standard if weight is None else standard * weight
    normalized: Tensor = _rms_norm_op.call(input, weight, rank, float(eps))[0]
    return normalized


def _checked_rank(
    name: str, input: Tensor, normalized_shape: Any, **parameters: Tensor | None
) -> int:
    """How many dimensions to normalise over; an error if they are not the input's last ones."""
    if _is_usual(input._array, normalized_shape, parameters):
        return len(normalized_shape)
    call = f"{name}({describe(input)}, normalized_shape={normalized_shape})"

    def refuse(kind: type[Exception], cause: str, fix: str) -> Exception:
        return fail(kind, call=call, cause=cause, fix=fix)

    if not isinstance(normalized_shape, (tuple, list)):
        raise refuse(
            TypeError,
            f"{name}(): argument 'normalized_shape' must be tuple of ints, not "
            f"{type(normalized_shape).__name__}",
            "pass the sizes of the last dimensions: (4,)",
        )
    wanted = tuple(map(operator.index, normalized_shape))
    if not wanted:
        raise refuse(
            RuntimeError,
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least "
            "one element, but got normalized_shape = []",
            "pass the sizes of the last dimensions: (4,)",
        )
    if tuple(input.shape[-len(wanted) :]) != wanted:
        raise refuse(
            RuntimeError,
            f"Given normalized_shape={list(wanted)}, expected input with shape "
            f"[*, {', '.join(map(str, wanted))}], but got input of size{list(input.shape)}",
            "normalized_shape repeats the last dimensions of the input",
        )
    for label, parameter in parameters.items():
        if parameter is not None and tuple(parameter.shape) != wanted:
            raise refuse(
                RuntimeError,
                f"Expected {label} to be of same shape as normalized_shape, but got {label} of "
                f"shape {list(parameter.shape)} and normalized_shape = {list(wanted)}",
                f"pass a {label} of shape {wanted}",
            )
    check_dtype(name, input, **parameters)
    return len(wanted)


def _is_usual(x: Array, shape: Any, parameters: dict[str, Tensor | None]) -> bool:
    """The form that layers use, recognised at little cost because layers are called often."""
    if type(shape) is not tuple or not shape or x.shape[-len(shape) :] != shape:
        return False
    for parameter in parameters.values():
        if parameter is not None:
            array = parameter._array
            if array.shape != shape or array.dtype != x.dtype:
                return False
    return True
