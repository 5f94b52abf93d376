"""Running totals: every result depends on the elements before it.

Derivatives of scans are scans in the other direction.  ``recurrence`` is the one from which the
rules of all products are made, and its own rule is a recurrence again, so every order of
derivative exists and zeros need no special case.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import shift_dims
from whygrad.ops.define import alias, composite, define, public_form
from whygrad.ops.exponential.exponential import logaddexp
from whygrad.ops.geometry import normalize_dim
from whygrad.ops.public import return_types
from whygrad.ops.reduction.chosen import INDEX, chosen_jvp, chosen_vjp
from whygrad.ops.reduction.shared import operand, widened
from whygrad.ops.ties import straight
from whygrad.tensor import Tensor, dtypes

Array = Any

_EARLIER, _LATER = slice(None, -1), slice(1, None)


def _stretch(dim: int, part: slice) -> tuple[slice, ...]:
    """An index that takes a part of one dimension."""
    return (*(slice(None),) * dim, part)


def _shift(x: Array, dim: int, step: int, fill: float) -> Array:
    out = np.full(x.shape, fill, x.dtype)
    if x.ndim:
        target, source = (_LATER, _EARLIER) if step > 0 else (_EARLIER, _LATER)
        out[_stretch(dim, target)] = x[_stretch(dim, source)]
    return out


define(
    "shift(x; dim, step, fill)",
    "y_t = x_{t−step} for a step of ±1, fill at the edge;  ∂x = incoming shifted back",
    complex_rule="holomorphic",
    forward=_shift,
    vjp={"x": lambda xp, incoming, dim, step: xp.shift(incoming, dim, -step, 0.0)},
    jvp=lambda xp, tangents, dim, step: xp.shift(tangents[0], dim, step, 0.0),
    meta=lambda x, dim, step, fill: (x.shape, x.dtype),
    batching=shift_dims("dim"),
    internal=True,
    samples=lambda make: [
        make.call(make(3, 4), 1, 1, 1.0),
        make.call(make(3, 4), 0, -1, 0.0),
        make.call(make(), 0, 1, 1.0),
        make.call(make(2, 0), 1, 1, 1.0),
    ],
)


def _recurrence(a: Array, b: Array, dim: int, reverse: bool) -> Array:
    """By doubling: after k rounds each result has taken in the 2ᵏ steps before it."""
    y, factor = np.array(b), np.array(a)
    if not y.ndim:
        return y
    results, factors = np.moveaxis(y, dim, 0), np.moveaxis(factor, dim, 0)
    if reverse:
        results, factors = results[::-1], factors[::-1]
    span = 1
    while span < len(results):
        results[span:] += factors[span:] * results[:-span]
        factors[span:] *= factors[:-span].copy()
        span *= 2
    return y


def _recurrence_vjp(xp: Any, incoming: Array, a: Array, y: Array, dim: int, reverse: bool) -> Any:
    step = -1 if reverse else 1
    total = xp.recurrence(xp.shift(a, dim, -step, 0.0), incoming, dim, not reverse)
    return total * xp.shift(y, dim, step, 0.0), total


def _recurrence_jvp(
    xp: Any, tangents: Any, a: Array, b: Array, y: Array, dim: int, reverse: bool
) -> Array:
    of_a, of_b = tangents
    source = xp.zeros_like(b) if of_b is None else of_b
    if of_a is not None:
        source = source + of_a * xp.shift(y, dim, -1 if reverse else 1, 0.0)
    return xp.recurrence(a, source, dim, reverse)


define(
    "recurrence(a, b; dim, reverse)",
    "y_t = a_t·y_{t−1} + b_t;  ∂b = s with s_t = incoming_t + a_{t+1}·s_{t+1},  ∂a_t = s_t·y_{t−1}",
    complex_rule="holomorphic",
    forward=_recurrence,
    vjp=_recurrence_vjp,
    jvp=_recurrence_jvp,
    meta=lambda a, b, dim, reverse: (b.shape, b.dtype),
    batching=shift_dims("dim"),
    internal=True,
    samples=lambda make: [
        make.call(make(5), make(5), 0, False),
        make.call(make(2, 4), make(2, 4), 1, True),
        make.call(make(4, 2), make(4, 2), 0, True),
        make.call(make(), make(), 0, False),
    ],
)


def _scan(accumulate: Any) -> Any:
    return lambda x, dim: accumulate(x, axis=dim, dtype=x.dtype) if x.ndim else x.copy()


def _scan_args(name: str) -> Any:
    def prepare(input: Any, dim: Any, *, dtype: Any = None) -> Any:
        input = widened(input, dtype)
        if input.dtype is dtypes.bool_ and input.ndim and input.numel():
            raise fail(
                NotImplementedError,
                call=f"{name}(dtype={dtypes.bool_})",
                cause=f"{name} is not implemented for bool",
                fix="accumulate in an integer dtype and compare the result with 0",
            )
        return input, normalize_dim(dim, input.ndim, name)

    return prepare


def _samples(make: Any) -> Any:
    return [
        make.call(make(3, 4), 1),
        make.call(make(2, 3, 2), -2),
        make.call(make(3), dim=0),
        make.call(make(), 0),
        make.call(make(0, 3), 0),
    ]


def _same_meta(x: Array, dim: int) -> Any:
    return x.shape, x.dtype


define(
    "cumsum(x; dim)",
    "y_t = Σ_{s≤t} x_s;  ∂x_t = Σ_{s≥t} incoming_s",
    forward=_scan(np.add.accumulate),
    vjp={
        "x": lambda xp, incoming, dim: (
            xp.flip(xp.cumsum(xp.flip(incoming, (dim,)), dim), (dim,))
            if incoming.ndim
            else incoming
        )
    },
    linear=True,
    meta=_same_meta,
    batching=shift_dims("dim"),
    public=_scan_args("cumsum"),
    inplace=True,
    samples=lambda make: [
        *_samples(make),
        make.call(make(2, 3), 0, dtype=dtypes.float64),
        make.call(make.ints(3).astype("int32"), 0),
        make.call(make.bools(3), 0),
    ],
)
define(
    "cumprod(x; dim)",
    "y_t = Π_{s≤t} x_s;  ∂x_t = s_t·y_{t−1} with s_t = incoming_t + x_{t+1}·s_{t+1}",
    complex_rule="holomorphic",
    forward=_scan(np.multiply.accumulate),
    vjp={
        "x": lambda xp, incoming, x, y, dim: (
            incoming
            if not x.ndim or x.shape[dim] <= 1  # nothing to multiply with
            else xp.recurrence(xp.shift(x, dim, -1, 0.0), incoming, dim, True)
            * xp.shift(y, dim, 1, 1.0)
        )
    },
    jvp=lambda xp, tangents, x, y, dim: xp.recurrence(
        x, tangents[0] * xp.shift(y, dim, 1, 1.0), dim, False
    ),
    meta=_same_meta,
    batching=shift_dims("dim"),
    public=_scan_args("cumprod"),
    inplace=True,
    samples=lambda make: [
        *_samples(make),
        make.call(make(3, 1), 1),
        make.call(np.array([2.0, 0.0, 3.0, 0.5]), 0),
        make.call(np.array([[2.0, 0.0, 3.0, 0.0], [0.0, 0.0, 1.5, 2.0]]), 1),
        make.call(make.ints(3).astype("int32"), 0),
    ],
)


def _declare_running(name: str, formula: str, accumulate: Any) -> None:
    def kernel(x: Array, dim: int) -> tuple[Array, Array]:
        if not x.ndim:
            return x.copy(), np.zeros((), INDEX)
        values = accumulate(x, axis=dim)
        position = np.arange(x.shape[dim]).reshape((-1,) + (1,) * (x.ndim - 1 - dim))
        record = (x == values) | (x != x)  # NaN beats every number
        return values, np.maximum.accumulate(np.where(record, position, 0), axis=dim)

    op = define(
        f"{name}(x; dim)",
        formula,
        forward=kernel,
        vjp={"x": chosen_vjp},
        jvp=chosen_jvp,
        outputs=("values", "indices"),
        meta=lambda x, dim: [(x.shape, x.dtype), (x.shape, INDEX)],
        batching=shift_dims("dim"),
        subgradient="the latest of tied elements gets it all",
        samples=lambda make: [
            make.call(make.distinct(3, 4), 1),
            make.call(make.distinct(2, 3, 2), dim=-2),
            make.call(make(), 0),
            make.call(make(0, 3), 0),
            make.call(make.ints(3, 4), 0),
        ],
    )
    result = getattr(return_types, name)

    @public_form(op)
    def running(input: Any, dim: Any) -> Any:
        input = operand(input)
        if not input.numel():
            input = straight(input)
        return result(*op.call(input, normalize_dim(dim, input.ndim, name)))

    running.__doc__ = f"{formula}; as a named tuple ``(values, indices)``."


_declare_running("cummax", "values_t = max of x up to t, at indices", np.maximum.accumulate)
_declare_running("cummin", "values_t = min of x up to t, at indices", np.minimum.accumulate)


def _fading(xp: Any, y: Array, dim: int) -> Array:
    """exp(y_{t−1} − y_t): how much of the sum up to t was already there; at most 1."""
    return xp.exp(xp.shift(y, dim, 1, -np.inf) - y)


def _logcumsumexp(x: Array, dim: int) -> Array:
    if not x.ndim or x.dtype.kind != "c":
        return _scan(np.logaddexp.accumulate)(x, dim)
    y = x.copy()
    steps = np.moveaxis(y, dim, 0)
    for step in range(1, len(steps)):
        steps[step] = logaddexp(steps[step], steps[step - 1])
    return y


define(
    "logcumsumexp(x; dim)",
    "y_t = log Σ_{s≤t} exp x_s;  ∂x_t = Σ_{s≥t} incoming_s·exp(x_t − y_s)",
    forward=_logcumsumexp,
    complex_rule="holomorphic",
    vjp={
        "x": lambda xp, incoming, x, y, dim: (
            xp.recurrence(xp.shift(_fading(xp, y, dim), dim, -1, 0.0), incoming, dim, True)
            * xp.exp(x - y)
            if x.ndim and 0 not in x.shape
            else incoming
        )
    },
    jvp=lambda xp, tangents, x, y, dim: xp.recurrence(
        _fading(xp, y, dim), tangents[0] * xp.exp(x - y), dim, False
    ),
    promote="float",
    meta=_same_meta,
    batching=shift_dims("dim"),
    public=lambda input, dim: (
        operand(input),
        normalize_dim(dim, operand(input).ndim, "logcumsumexp"),
    ),
    samples=lambda make: [*_samples(make), make.call(make(3, 4) + 1000.0, 1)],
)


def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Differences of neighbours along ``dim``, taken ``n`` times."""
    from whygrad.ops.define import table

    input = operand(input)
    if not input.ndim:
        raise fail(
            RuntimeError,
            call="diff() of a 0-d tensor",
            cause="diff expects input to be at least one-dimensional",
            fix="a single number has no neighbours: pass a tensor with a dimension",
        )
    n = operator.index(n)
    if n < 0:
        raise fail(
            RuntimeError,
            call=f"diff(n={n})",
            cause=f"order must be non-negative but got {n}",
            fix="pass how often to take differences: 0, 1, 2, …",
        )
    axis = normalize_dim(dim, input.ndim, "diff")
    parts = [each for each in (prepend, input, append) if each is not None]
    result = parts[0] if len(parts) == 1 else table["cat"].public(parts, axis)
    if n == 0:
        return input.clone()  # as in PyTorch, without what was prepended
    subtract = table["logical_xor" if result.dtype is dtypes.bool_ else "sub"].call
    for _ in range(min(n, result.shape[axis])):
        result = subtract(result[_stretch(axis, _LATER)], result[_stretch(axis, _EARLIER)])
    return result


composite(
    diff,
    "y_t = x_{t+1} − x_t, n times over",
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make(3, 4), 2, 0),
        make.call(make(3, 4), n=2, prepend=make(3, 1), append=make(3, 2)),
        make.call(make(3), 0),
        make.call(make(3), 0, prepend=make.constant(make(2))),
        make.call(make(3), 5),
        make.call(make.bools(4)),
        make.call(make.ints(4)),
    ],
)


def _trapezoids(y: Any, x: Any, dx: Any, dim: int, name: str) -> Tensor:
    """The area between each pair of neighbours."""
    y = operand(y)
    axis = normalize_dim(dim, y.ndim, name)
    pairs = y[_stretch(axis, _LATER)] + y[_stretch(axis, _EARLIER)]
    if x is None:
        return pairs * (dx / 2.0)
    x = operand(x)
    if x.ndim == 1 and y.shape[axis] != x.shape[0]:
        raise fail(
            RuntimeError,
            call=f"{name}({describe(y)}, {describe(x)}, dim={dim})",
            cause="There must be one `x` value for each sample point",
            fix=f"pass {y.shape[axis]} positions, one per element of y along dim {axis}",
        )
    widths = x.diff(dim=axis if x.ndim == y.ndim else -1)
    if x.ndim == 1:
        widths = widths.reshape((-1,) + (1,) * (y.ndim - 1 - axis))
    return pairs * widths / 2.0


def trapezoid(y: Any, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Tensor:
    """The area under ``y``, with straight lines between its points."""
    dim = normalize_dim(dim, operand(y).ndim, "trapezoid")
    return _trapezoids(y, x, dx, dim, "trapezoid").sum(dim)


def cumulative_trapezoid(y: Any, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Tensor:
    """The area under ``y`` up to each point after the first."""
    dim = normalize_dim(dim, operand(y).ndim, "cumulative_trapezoid")
    return _trapezoids(y, x, dx, dim, "cumulative_trapezoid").cumsum(dim)


def _trapezoid_samples(make: Any) -> Any:
    return [
        make.call(make(3, 4)),
        make.call(make(3, 4), make(4)),
        make.call(make(3, 4), make(3, 4), dim=0),
        make.call(make(3, 4), dx=0.5, dim=0),
        make.call(make(3, 4), make(3), dim=0),
    ]


composite(
    trapezoid,
    "Σ (y_t + y_{t+1})·(x_{t+1} − x_t)/2",
    method=False,
    samples=_trapezoid_samples,
)
composite(
    cumulative_trapezoid,
    "running Σ (y_t + y_{t+1})·(x_{t+1} − x_t)/2",
    method=False,
    samples=_trapezoid_samples,
)
alias("trapz", "trapezoid")
