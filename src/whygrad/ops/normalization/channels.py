"""Batch norm: each channel (dimension 1) over all samples and positions.

The kernels see the input as (samples, channels, positions).
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.activation.smooth import ONLY_FLOATS
from whygrad.ops.define import define, public_form
from whygrad.ops.namespace import raw
from whygrad.ops.normalization.statistics import (
    MixedPrecision,
    check_dtype,
    only_from_first,
    pull,
    push,
)
from whygrad.ops.ties import joined
from whygrad.ops.totals import add_columns, add_rows, dot_rows, equal_lanes
from whygrad.tensor import Tensor, alias, keys, modes

__all__ = [
    "batch_norm",
    "by_channel",
    "check_updates",
    "check_vectors",
    "constant",
    "dots",
    "fitting",
    "functional_batch_norm",
    "move_towards",
    "other_dims",
    "sums",
    "unbiasing",
]

Array = Any
Dims = tuple[int, ...]
Shape = tuple[int, ...]


def by_channel(x: Array) -> Array:
    """(samples, channels, positions)"""
    samples, channels = x.shape[:2]
    return x.reshape(samples, channels, prod(x.shape[2:]))


def sums(x: Array) -> Array:
    """Per channel."""
    samples, channels, positions = x.shape
    if positions != 1:
        x = add_rows(x.reshape(samples * channels, positions))
    return add_columns(x.reshape(samples, channels))


def dots(a: Array, b: Array) -> Array:
    """Per channel, the sum of the products."""
    products = a[..., 0] * b[..., 0] if a.shape[2] == 1 else dot_rows(a, b)
    return add_columns(products)


def _values_per(shape: Shape) -> int:
    """How many numbers a channel has."""
    return shape[0] * prod(shape[2:])


def other_dims(x: Array) -> Dims:
    return (0, *range(2, x.ndim))


def fitting(shape: Shape) -> Shape:
    """The shape in which one number per channel broadcasts with the input."""
    return (shape[1], *(1,) * (len(shape) - 2))


def _batch_norm(
    x: Array, weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    blocks, count = by_channel(x), _values_per(x.shape)
    mean = sums(blocks)
    mean /= count
    out = blocks - mean[:, None]
    var = dots(out, out)
    var /= count
    equal = equal_lanes(blocks, mean[:, None], var[:, None], (0, 2))
    if equal is not None:
        mean = np.where(equal[0, :, 0], blocks[0, :, 0], mean)
        out = blocks - mean[:, None]
        var = dots(out, out)
        var /= count
    factor = 1.0 / np.sqrt(var + eps)
    if weight is not None:
        factor *= weight
    out *= factor[:, None]
    if bias is not None:
        out += bias[:, None]
    kept = (1, *fitting(x.shape))
    return out.reshape(x.shape), mean.reshape(kept), var.reshape(kept)


def _batch_norm_rule(
    xp: Any, incoming: Any, x: Array, weight: Array | None, mean: Array, var: Array,
    needs: tuple[bool, ...], eps: float,
) -> tuple[Array | None, ...]:  # fmt: skip
    from_y = incoming[0]
    if xp is raw and only_from_first(incoming):
        return _pull_channels(from_y, x, weight, mean, var, needs, eps)
    dims = other_dims(x)
    scale = None if weight is None else xp.reshape(weight, fitting(x.shape))
    gradient, of_scale = pull(xp, incoming, x, scale, mean, var, dims, eps)
    if from_y is None:
        return gradient, None, None
    return gradient, xp.sum(of_scale, dims, False), xp.sum(from_y, dims, False)


def _pull_channels(
    incoming: Array, x: Array, weight: Array | None, mean: Array, var: Array,
    needs: tuple[bool, ...], eps: float,
) -> tuple[Array | None, ...]:  # fmt: skip
    """The rule of ordinary backward: ``pull`` in place."""
    arrived, count = by_channel(incoming), _values_per(x.shape)
    spread = 1.0 / np.sqrt(var.reshape(-1) + eps)
    work = by_channel(x) - mean.reshape(-1, 1)
    work *= spread[:, None]
    of_weight, of_bias = dots(arrived, work), sums(arrived)
    if not needs[0]:
        return None, of_weight, of_bias
    work *= of_weight[:, None] / count
    np.subtract(arrived, work, out=work)
    work -= of_bias[:, None] / count
    work *= (spread if weight is None else spread * weight)[:, None]
    return work.reshape(x.shape), of_weight, of_bias


def _batch_norm_jvp(
    xp: Any, tangents: Any, x: Array, weight: Array | None, mean: Array, var: Array, eps: float
) -> Any:
    shape = fitting(x.shape)
    x_tangent, *others = tangents
    scale, *moved = [
        None if each is None else xp.reshape(each, shape) for each in (weight, *others)
    ]
    return push(xp, (x_tangent, *moved), x, scale, mean, var, other_dims(x), eps)


def _batch_norm_meta(x: Array, weight: Any, bias: Any, eps: float) -> list[Any]:
    kept = (1, *fitting(x.shape))
    return [(x.shape, x.dtype), (kept, x.dtype), (kept, x.dtype)]


_batch_norm_op = define(
    "batch_norm(x, weight, bias; eps)",
    "x̂ = (x − mean)/√(var + ε) per channel, y = x̂·weight + bias;  ∂x = (incoming − mean(incoming) "
    "− x̂·mean(incoming·x̂))·weight/√(var + ε),  ∂weight = Σ incoming·x̂,  ∂bias = Σ incoming",
    forward=_batch_norm,
    vjp=_batch_norm_rule,
    joined=("x", "weight"),
    jvp=_batch_norm_jvp,
    outputs=("y", "mean", "var"),
    returned=1,
    meta=_batch_norm_meta,
    refuses=ONLY_FLOATS,
    method=False,
    samples=lambda make: [
        make.call(make(4, 3), make(3), make(3), None, None, True, 0.1, 1e-5, False),
        make.call(make(2, 3, 4), make(3), make(3), None, None, True, 0.1, 0.1, False),
        make.call(make(2, 3, 2, 2), make(3), None, None, None, True, 0.1, 1e-5, False),
        make.call(make(2, 3, 2, 2), None, make(3), None, None, True, 0.1, 1e-5, False),
        make.call(make(4, 3), None, None, None, None, True, 0.1, 1e-5, False),
        make.call(make(4, 3), make.constant(make(3)), make(3), None, None, True, 0.1, 1e-5, False),
        make.call(make.constant(make(4, 3)), make(3), make(3), None, None, True, 0.1, 1e-5, False),
        make.call(
            *(make(2, 3, 2), make(3), make(3)),
            *(make.constant(make(3)), make.constant(make(3, low=0.5))),
            *(False, 0.1, 1e-5, False),
        ),
        make.call(
            *(make(2, 3), None, None),
            *(make.constant(make(3)), make.constant(make(3, low=0.5))),
            *(False, 0.1, 1e-5, False),
        ),
    ],
)


@public_form(_batch_norm_op)
def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = False,
) -> Tensor:
    """Mean 0 and variance 1 per channel, then ``weight`` and ``bias`` per channel.

    In training the batch's own mean and variance count, and the running ones move towards them by
    ``momentum``; otherwise the running ones count.  ``cudnn_enabled`` is there for PyTorch's sake.
    """
    vectors = {
        "running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias,
    }  # fmt: skip
    try:
        check_vectors("batch_norm", input, **vectors)
    except MixedPrecision:
        rest = weight, bias, running_mean, running_var, training, momentum, eps
        return batch_norm(input.float(), *rest).to(input.dtype)
    if not training:
        return _with_fixed_statistics(input, weight, bias, running_mean, running_var, eps)
    _check_training(input, running_mean, running_var, eps)
    y, mean, var = _batch_norm_op.call(input, weight, bias, float(eps))
    if running_mean is not None and running_var is not None:
        with modes.no_grad():
            move_towards(running_mean, constant(mean).reshape(-1), momentum)
            unbiased = constant(var).reshape(-1) * unbiasing(_values_per(input.shape))
            move_towards(running_var, unbiased, momentum)
    normalized: Tensor = y
    return normalized


def functional_batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """``batch_norm`` in the order of arguments that ``nn.functional`` has."""
    if input.ndim == 1 and not input.numel():
        return input.clone()  # nothing has no channels to ask for
    normalized: Tensor = batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )
    return normalized


def constant(statistic: Tensor) -> Tensor:
    """The numbers alone: nobody asks a running statistic which batches it came from."""
    return statistic.detach() if statistic._keys & keys.BATCHED else alias(statistic)


def unbiasing(count: int) -> float:
    """What makes the variance of ``count`` numbers that of the distribution behind them."""
    return count / max(count - 1, 1)


def move_towards(running: Tensor, current: Tensor, momentum: float) -> None:
    """Let a running statistic follow, in place."""
    running.mul_(1.0 - momentum)
    running.add_(current * momentum)


def _with_fixed_statistics(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor | None,
    var: Tensor | None,
    eps: float,
) -> Tensor:
    if mean is None or var is None:
        missing = "running_mean" if mean is None else "running_var"
        raise _refuse(
            input,
            f"{missing} must be defined in evaluation mode",
            "pass both running statistics, or training=True to use the batch's own",
        )
    input, weight, bias = joined(input, weight, bias, by=(input, weight))
    shape = fitting(input.shape)
    scale = (var + eps).rsqrt()
    if weight is not None:
        scale = scale * weight
    shift = -mean * scale if bias is None else bias - mean * scale
    return input * scale.reshape(shape) + shift.reshape(shape)


def check_updates(input: Tensor, *running: Tensor | None) -> None:
    """Statistics that all samples of ``vmap`` share cannot follow each of them."""
    alone = [each for each in running if each is not None and not each._keys & keys.BATCHED]
    if input._keys & keys.BATCHED and alone:
        raise _refuse(
            input,
            "Batch norm got a batched tensor as input while the running_mean or running_var, which "
            "will be updated in place, were not batched",
            "build the layer with track_running_stats=False, or call eval() on it",
        )


def _check_training(input: Tensor, mean: Tensor | None, var: Tensor | None, eps: float) -> None:
    if _values_per(input.shape) == 1:
        raise _refuse(
            input,
            "Expected more than 1 value per channel when training, got input size "
            f"{tuple(input.shape)}: the variance of one number says nothing",
            "use larger batches (drop_last=True in a DataLoader), or eval() for single samples",
            ValueError,
        )
    if (mean is None) != (var is None):
        raise _refuse(
            input,
            "running_mean and running_var must either both be None or neither be None",
            "pass both, or None for both",
            ValueError,
        )
    check_updates(input, mean, var)
    if eps <= 0:
        raise _refuse(
            input,
            f"batch_norm eps must be positive during training, but got {eps}",
            "pass a small positive number such as 1e-5",
            ValueError,
        )


def check_vectors(name: str, input: Tensor, **vectors: Tensor | None) -> None:
    """One number per channel each, in the dtype of the input."""
    if input.ndim < 2:
        raise _refuse(
            input,
            f"Dimension out of range: channels are dimension 1, but the input has {input.ndim} "
            "dimension(s)",
            "add a dimension for the batch: input.unsqueeze(0)",
            IndexError,
        )
    channels = input.shape[1]
    for label, vector in vectors.items():
        if vector is not None and vector.numel() != channels:
            raise _refuse(
                input,
                f"{label} should contain {channels} elements not {vector.numel()}",
                "it has one number per channel, which is dimension 1 of the input",
            )
    check_dtype(name, input, **vectors)


def _refuse(input: Tensor, cause: str, fix: str, kind: type[Exception] = RuntimeError) -> Exception:
    call = f"batch_norm of {describe(input)}"
    return fail(kind, call=call, cause=cause, fix=fix)
