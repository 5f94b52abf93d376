"""The three products behind every convolution.

Take the sum over everything of x · weight · y, each y met with the window of x it belongs to.
Its derivative by y is the convolution of x and weight, its derivative by x the transposed one of
y and weight, its derivative by weight is what a layer needs to learn.  So each of the three is the
rule of the other two, and derivatives of any order stay among them.
"""

from __future__ import annotations

from typing import Any

from whygrad.ops.batching import repeat_over
from whygrad.ops.convolution.kernels import convolve, convolve_transposed, correlate_weight
from whygrad.ops.convolution.windows import Dims, Pads, covered, kernel_between, window_counts
from whygrad.ops.define import define

__all__ = ["convolution", "convolution_transpose"]

Array = Any
Shape = tuple[int, ...]

_NO_BOOL = {"bool": ("not implemented for bool tensors", "convert the input first: x.float()")}


def _bias_rule(xp: Any, incoming: Array) -> Array:
    return xp.sum(incoming, (0, *range(2, incoming.ndim)), False)


def _over_positions(xp: Any, bias: Array, shape: Shape) -> Array:
    """One number per channel, in the shape of the output."""
    return xp.expand(xp.reshape(bias, (shape[1], *(1,) * (len(shape) - 2))), shape)


def _sum_of(parts: list[Array]) -> Array:
    return sum(parts[1:], parts[0])


def _forward_rule(name: str) -> Any:
    """The tangent of either convolution: linear in the input, in the weight and in the bias."""

    def jvp(
        xp: Any,
        tangents: Any,
        x: Array,
        weight: Array,
        y: Array,
        stride: Dims,
        pads: Pads,
        dilation: Dims,
        groups: int,
    ) -> Array:
        call = getattr(xp, name)
        of_x, of_weight, of_bias = tangents
        parts = []
        if of_x is not None:
            parts.append(call(of_x, weight, None, stride, pads, dilation, groups))
        if of_weight is not None:
            parts.append(call(x, of_weight, None, stride, pads, dilation, groups))
        if of_bias is not None:
            parts.append(_over_positions(xp, of_bias, y.shape))
        return _sum_of(parts)

    return jvp


def _with_samples(xp: Any, x: Array) -> Array:
    """(batch, samples, …) as more samples."""
    return xp.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))


def _with_channels(xp: Any, x: Array) -> Array:
    """(batch, samples, channels, …) as more channels."""
    moved = xp.permute(x, (1, 0, *range(2, x.ndim)))
    return xp.reshape(moved, (x.shape[1], x.shape[0] * x.shape[2], *x.shape[3:]))


def _split(xp: Any, x: Array, dim: int, batch: int) -> Array:
    """Undo either: the batch comes out of a dimension and to the front."""
    parted = xp.reshape(x, (*x.shape[:dim], batch, x.shape[dim] // batch, *x.shape[dim + 1 :]))
    rest = (each for each in range(parted.ndim) if each != dim)
    return xp.permute(parted, (dim, *rest))


def _batching_rule(name: str) -> Any:
    """A batch of inputs is more samples; a batch of weights is more groups."""

    def rule(
        xp: Any,
        x: Array,
        weight: Array,
        bias: Array | None,
        stride: Dims,
        pads: Pads,
        dilation: Dims,
        groups: int,
        batch: int,
        batched: tuple[bool, ...],
    ) -> Array:
        call = getattr(xp, name)
        if batched[1]:
            if not batched[0]:
                x = repeat_over(x, batch)
            many = call(
                _with_channels(xp, x), _with_samples(xp, weight), None,
                stride, pads, dilation, groups * batch,
            )  # fmt: skip
            y = _split(xp, many, 1, batch)
        elif batched[0]:
            many = call(_with_samples(xp, x), weight, None, stride, pads, dilation, groups)
            y = _split(xp, many, 0, batch)
        else:
            y = repeat_over(call(x, weight, None, stride, pads, dilation, groups), batch)
        if bias is None:
            return y
        ones = (1,) * (y.ndim - 3)
        return y + xp.reshape(bias, ((batch, 1) if batched[2] else ()) + (y.shape[2], *ones))

    return rule


def _weight_of_batch(
    xp: Any,
    x: Array,
    y: Array,
    stride: Dims,
    pads: Pads,
    dilation: Dims,
    groups: int,
    batch: int,
) -> Array:
    x, y = _with_channels(xp, x), _with_channels(xp, y)
    many = xp.convolution_weight(x, y, stride, pads, dilation, groups * batch)
    return _split(xp, many, 0, batch)


convolution = define(
    "convolution(x, weight, bias; stride, pads, dilation, groups)",
    "y[n, o, p] = Σ x[n, c, p·stride + k·dilation − pad]·W[o, c, k] + b[o];  "
    "∂x = the transposed convolution of incoming and W,  ∂W = incoming met with the windows of x,  "
    "∂b = Σ incoming",
    complex_rule="holomorphic",
    forward=convolve,
    vjp={
        "x": lambda xp, incoming, weight, stride, pads, dilation, groups: xp.convolution_transpose(
            incoming, weight, None, stride, pads, dilation, groups
        ),
        "weight": lambda xp, incoming, x, stride, pads, dilation, groups: xp.convolution_weight(
            x, incoming, stride, pads, dilation, groups
        ),
        "bias": _bias_rule,
    },
    jvp=_forward_rule("convolution"),
    joined=("x", "weight"),
    meta=lambda x, weight, bias, stride, pads, dilation, groups: (
        (
            *(x.shape[0], weight.shape[0]),
            *window_counts(x.shape, weight.shape[2:], stride, pads, dilation),
        ),
        x.dtype,
    ),
    batching=_batching_rule("convolution"),
    refuses=_NO_BOOL,
    internal=True,
    samples=lambda make: [
        make.call(make(2, 3, 5), make(4, 3, 3), make(4), (1,), ((1, 0),), (1,), 1),
        make.call(make(2, 2, 6), make(4, 1, 2), None, (2,), ((1, 0),), (2,), 2),
        make.call(make(1, 2, 4, 5), make(2, 2, 2, 3), make(2), (1, 1), ((1, 1), (0, 0)), (2, 1), 1),
        make.call(make(2, 2, 4, 3), make(2, 1, 3, 2), make(2), (2, 1), ((1, 0), (0, 1)), (1, 1), 2),
    ],
).call
convolution_transpose = define(
    "convolution_transpose(x, weight, bias; stride, pads, dilation, groups)",
    "y[n, c, p·stride + k·dilation − pad] += x[n, o, p]·W[o, c, k], then + b[c];  "
    "∂x = the convolution of incoming and W,  ∂W = x met with the windows of incoming,  "
    "∂b = Σ incoming",
    complex_rule="holomorphic",
    forward=convolve_transposed,
    vjp={
        "x": lambda xp, incoming, weight, stride, pads, dilation, groups: xp.convolution(
            incoming, weight, None, stride, pads, dilation, groups
        ),
        "weight": lambda xp, incoming, x, stride, pads, dilation, groups: xp.convolution_weight(
            incoming, x, stride, pads, dilation, groups
        ),
        "bias": _bias_rule,
    },
    jvp=_forward_rule("convolution_transpose"),
    joined=("x", "weight"),
    meta=lambda x, weight, bias, stride, pads, dilation, groups: (
        (
            *(x.shape[0], weight.shape[1] * groups),
            *covered(x.shape, weight.shape[2:], stride, pads, dilation),
        ),
        x.dtype,
    ),
    batching=_batching_rule("convolution_transpose"),
    refuses=_NO_BOOL,
    internal=True,
    samples=lambda make: [
        make.call(make(2, 4, 4), make(4, 3, 3), make(3), (1,), ((1, 0),), (1,), 1),
        make.call(make(2, 4, 3), make(4, 1, 2), None, (2,), ((1, 0),), (2,), 2),
        make.call(make(1, 2, 3, 2), make(2, 2, 2, 3), make(2), (1, 1), ((1, 1), (0, 0)), (2, 1), 1),
        make.call(make(2, 2, 2, 3), make(2, 1, 3, 2), make(2), (2, 1), ((1, 0), (0, 1)), (1, 1), 2),
    ],
).call


def _weight_jvp(
    xp: Any,
    tangents: Any,
    x: Array,
    y: Array,
    stride: Dims,
    pads: Pads,
    dilation: Dims,
    groups: int,
) -> Array:
    of_x, of_y = tangents
    parts = []
    if of_x is not None:
        parts.append(xp.convolution_weight(of_x, y, stride, pads, dilation, groups))
    if of_y is not None:
        parts.append(xp.convolution_weight(x, of_y, stride, pads, dilation, groups))
    return _sum_of(parts)


define(
    "convolution_weight(x, y; stride, pads, dilation, groups)",
    "W[o, c, k] = Σ y[n, o, p]·x[n, c, p·stride + k·dilation − pad];  "
    "∂x = the transposed convolution of y and incoming,  ∂y = the convolution of x and incoming",
    complex_rule="holomorphic",
    forward=correlate_weight,
    vjp={
        "x": lambda xp, incoming, y, stride, pads, dilation, groups: xp.convolution_transpose(
            y, incoming, None, stride, pads, dilation, groups
        ),
        "y": lambda xp, incoming, x, stride, pads, dilation, groups: xp.convolution(
            x, incoming, None, stride, pads, dilation, groups
        ),
    },
    jvp=_weight_jvp,
    outputs=("weight",),
    meta=lambda x, y, stride, pads, dilation, groups: (
        (
            *(y.shape[1], x.shape[1] // groups),
            *kernel_between(x.shape, y.shape[2:], stride, pads, dilation),
        ),
        x.dtype,
    ),
    batching=_weight_of_batch,
    internal=True,
    samples=lambda make: [
        make.call(make(2, 3, 5), make(2, 4, 4), (1,), ((1, 0),), (1,), 1),
        make.call(make(2, 2, 6), make(2, 4, 3), (2,), ((1, 0),), (2,), 2),
        make.call(make(1, 2, 4, 5), make(1, 2, 4, 3), (1, 1), ((1, 1), (0, 0)), (2, 1), 1),
        make.call(make(2, 2, 4, 3), make(2, 2, 2, 3), (2, 1), ((1, 0), (0, 1)), (1, 1), 2),
    ],
)
