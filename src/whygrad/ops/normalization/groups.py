"""Group norm and instance norm: channels of each sample by themselves."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.activation.smooth import ONLY_FLOATS
from whygrad.ops.define import composite, define, public_form, table
from whygrad.ops.namespace import raw
from whygrad.ops.normalization.channels import (
    batch_norm,
    by_channel,
    check_updates,
    check_vectors,
    constant,
    dots,
    fitting,
    move_towards,
    other_dims,
    sums,
    unbiasing,
)
from whygrad.ops.normalization.statistics import (
    MixedPrecision,
    check_dtype,
    only_from_first,
    pull,
    push,
    standardized_rows,
)
from whygrad.ops.ties import joined
from whygrad.ops.totals import add_rows, dot_rows
from whygrad.tensor import Tensor, modes

__all__ = ["functional_instance_norm", "group_norm", "instance_norm"]

Array = Any


def _grouped(x: Array, groups: int) -> Array:
    """A matrix with one row per sample and group."""
    samples, channels, *positions = x.shape
    return x.reshape(samples * groups, channels // groups * prod(positions))


def _group_norm(
    x: Array, weight: Array | None, bias: Array | None, groups: int, eps: float
) -> tuple[Array, Array, Array]:
    out, mean, var = standardized_rows(_grouped(x, groups), eps)
    blocks = by_channel(out.reshape(x.shape))
    if weight is not None:
        blocks *= weight[:, None]
    if bias is not None:
        blocks += bias[:, None]
    kept = (x.shape[0], groups, 1)
    return blocks.reshape(x.shape), mean.reshape(kept), var.reshape(kept)


def _group_norm_rule(
    xp: Any, incoming: Any, x: Array, weight: Array | None, mean: Array, var: Array,
    needs: tuple[bool, ...], groups: int, eps: float,
) -> tuple[Array | None, ...]:  # fmt: skip
    if xp is raw and only_from_first(incoming):
        return _pull_groups(incoming[0], x, weight, mean, var, needs, groups, eps)
    from_y, *from_statistics = incoming
    shape = (x.shape[0], groups, -1 if prod(x.shape) else 0)
    scaled = from_y
    if from_y is not None and weight is not None:
        scaled = from_y * xp.reshape(weight, fitting(x.shape))
    rows = xp.reshape(x, shape)
    given = (None if scaled is None else xp.reshape(scaled, shape), *from_statistics)
    gradient, _ = pull(xp, given, rows, None, mean, var, (2,), eps)
    gradient = xp.reshape(gradient, x.shape)
    if from_y is None:
        return gradient, None, None
    standard = xp.reshape((rows - mean) * xp.rsqrt(var + eps), x.shape)
    dims = other_dims(x)
    return gradient, xp.sum(from_y * standard, dims, False), xp.sum(from_y, dims, False)


def _pull_groups(
    incoming: Array, x: Array, weight: Array | None, mean: Array, var: Array,
    needs: tuple[bool, ...], groups: int, eps: float,
) -> tuple[Array | None, ...]:  # fmt: skip
    """The rule of ordinary backward, in place."""
    arrived = by_channel(incoming)
    spread = 1.0 / np.sqrt(var.reshape(-1, 1) + eps)
    standard = _grouped(x, groups) - mean.reshape(-1, 1)
    standard *= spread
    of_weight = dots(arrived, by_channel(standard.reshape(x.shape)))
    of_bias = sums(arrived)
    if not needs[0]:
        return None, of_weight, of_bias
    scaled = arrived.copy() if weight is None else arrived * weight[:, None]
    rows = scaled.reshape(standard.shape)
    count = rows.shape[1]
    level = add_rows(rows)[:, None] / count
    standard *= dot_rows(rows, standard)[:, None] / count
    rows -= standard
    rows -= level
    rows *= spread
    return rows.reshape(x.shape), of_weight, of_bias


def _group_norm_jvp(
    xp: Any, tangents: Any, x: Array, weight: Array | None, mean: Array, var: Array,
    groups: int, eps: float,
) -> Any:  # fmt: skip
    x_tangent, weight_tangent, bias_tangent = tangents
    shape, wide = (x.shape[0], groups, -1 if prod(x.shape) else 0), fitting(x.shape)
    rows = xp.reshape(x, shape)
    moved = None if x_tangent is None else xp.reshape(x_tangent, shape)
    of_y, of_mean, of_var = push(xp, (moved, None, None), rows, None, mean, var, (2,), eps)
    of_y = xp.reshape(of_y, x.shape)
    if weight is not None:
        of_y = of_y * xp.reshape(weight, wide)
    if weight_tangent is not None:
        standard = xp.reshape((rows - mean) * xp.rsqrt(var + eps), x.shape)
        of_y = of_y + standard * xp.reshape(weight_tangent, wide)
    if bias_tangent is not None:
        of_y = of_y + xp.reshape(bias_tangent, wide)
    return of_y, of_mean, of_var


_group_norm_op = define(
    "group_norm(x, weight, bias; groups, eps)",
    "x̂ = (x − mean)/√(var + ε) per sample and group of channels, y = x̂·weight + bias;  with w = "
    "incoming·weight: ∂x = (w − mean(w) − x̂·mean(w·x̂))/√(var + ε),  ∂weight = Σ incoming·x̂,  "
    "∂bias = Σ incoming",
    forward=_group_norm,
    vjp=_group_norm_rule,
    jvp=_group_norm_jvp,
    outputs=("y", "mean", "var"),
    meta=lambda x, weight, bias, groups, eps: [
        (x.shape, x.dtype),
        ((x.shape[0], groups, 1), x.dtype),
        ((x.shape[0], groups, 1), x.dtype),
    ],
    refuses=ONLY_FLOATS,
    torch="nn.functional.group_norm",
    samples=lambda make: [
        make.call(make(2, 8), 2, make(8), make(8)),
        make.call(make(2, 4, 3), 2, make(4), make(4), 0.1),
        make.call(make(2, 4, 2, 2), 1, make(4)),
        make.call(make(2, 4, 3), 4),
        make.call(make(2, 4, 3), 2, make.constant(make(4)), make(4)),
        make.call(make.constant(make(2, 4, 3)), 2, make(4), make(4)),
        make.call(make(0, 4, 3), 2, make(4), make(4)),
    ],
)


@public_form(_group_norm_op)
def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Mean 0 and variance 1 over each group of channels, sample by sample."""
    try:
        _check_groups(input, num_groups, weight=weight, bias=bias)
    except MixedPrecision:
        return group_norm(input.float(), num_groups, weight, bias, eps).to(input.dtype)
    normalized: Tensor = _group_norm_op.call(input, weight, bias, num_groups, float(eps))[0]
    return normalized


def _check_groups(input: Tensor, groups: int, **vectors: Tensor | None) -> None:
    def refuse(cause: str, fix: str, kind: type[Exception] = RuntimeError) -> Exception:
        call = f"group_norm({describe(input)}, num_groups={groups})"
        return fail(kind, call=call, cause=cause, fix=fix)

    if input.ndim < 2:
        raise refuse(
            f"Expected at least 2 dimensions for input tensor but received {input.ndim}",
            "the input is (samples, channels, …)",
        )
    samples, channels, *positions = input.shape
    if groups < 1 or channels % groups:
        raise refuse(
            "Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {list(input.shape)} and num_groups={groups}",
            "choose a divisor of the number of channels",
        )
    seen_as = [samples * channels // groups, groups, *positions]
    if seen_as[0] * prod(positions) == 1:
        raise refuse(
            f"Expected more than 1 value per channel when training, got input size {seen_as}",
            "use fewer groups: the variance of one number says nothing",
            ValueError,
        )
    for label, vector in vectors.items():
        if vector is not None and tuple(vector.shape) != (channels,):
            raise refuse(
                f"Expected {label} to be a vector of size equal to the number of channels in "
                f"input, but got {label} of shape {list(vector.shape)} and input of shape "
                f"{list(input.shape)}",
                f"pass a {label} of shape ({channels},)",
            )
    check_dtype("group_norm", input, **vectors)


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = False,
) -> Tensor:
    """Mean 0 and variance 1 over each channel of each sample.

    ``use_input_stats=False`` uses the running statistics instead.  ``cudnn_enabled`` is there for
    PyTorch's sake.
    """
    vectors = {
        "running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias,
    }  # fmt: skip
    try:
        _check_instances(input, use_input_stats, vectors)
    except MixedPrecision:
        rest = weight, bias, running_mean, running_var, use_input_stats, momentum, eps
        return instance_norm(input.float(), *rest).to(input.dtype)
    if not use_input_stats:
        fixed: Tensor = batch_norm(
            input, weight, bias, running_mean, running_var, False, momentum, eps
        )
        return fixed
    samples, channels, *positions = input.shape
    each_its_own = input.reshape(1, samples * channels, *positions)
    y, mean, var = table["batch_norm"].call(each_its_own, None, None, float(eps))
    if running_mean is not None and running_var is not None:
        with modes.no_grad():
            unbiased = constant(var) * unbiasing(prod(positions))
            for running, current in ((running_mean, constant(mean)), (running_var, unbiased)):
                move_towards(running, current.reshape(samples, channels).mean(0), momentum)
    return _scaled_and_shifted(y.reshape(input.shape), weight, bias)


def _scaled_and_shifted(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """x·weight + bias per channel, of which either may be missing."""
    weight, bias = joined(weight, bias, by=(x, weight))
    shape = fitting(x.shape)
    if weight is None:
        return x if bias is None else x + bias.reshape(shape)
    scaled = weight.reshape(shape)
    return x * scaled if bias is None else bias.reshape(shape).addcmul(x, scaled)


def functional_instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """``instance_norm`` in the order of arguments that ``nn.functional`` has."""
    return instance_norm(
        input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps
    )


def _check_instances(input: Tensor, use_input_stats: bool, vectors: dict[str, Any]) -> None:
    call = f"instance_norm of {describe(input)}"
    check_vectors("instance_norm", input, **vectors)
    if use_input_stats and prod(input.shape[2:]) == 1:
        raise fail(
            ValueError,
            call=call,
            cause="Expected more than 1 spatial element when training, got input size "
            f"{tuple(input.shape)}: the variance of one number says nothing",
            fix="the input is (samples, channels, positions…)",
        )
    if use_input_stats:
        check_updates(input, vectors["running_mean"], vectors["running_var"])
    elif vectors["running_mean"] is None or vectors["running_var"] is None:
        raise fail(
            RuntimeError,
            call=call,
            cause="Expected running_mean and running_var to be defined when use_input_stats is "
            "false",
            fix="pass both running statistics, or use_input_stats=True",
        )


composite(
    instance_norm,
    "x̂ = (x − mean)/√(var + ε) per sample and channel, y = x̂·weight + bias",
    method=False,
    samples=lambda make: [
        make.call(make(2, 3, 4), make(3), make(3), None, None, True, 0.1, 1e-5, False),
        make.call(make(2, 3, 2, 2), make(3), make(3), None, None, True, 0.1, 0.1, False),
        make.call(make(2, 3, 4), None, None, None, None, True, 0.1, 1e-5, False),
        make.call(
            *(make(2, 3, 2), make(3), make(3)),
            *(make.constant(make(3)), make.constant(make(3, low=0.5))),
            *(False, 0.1, 1e-5, False),
        ),
    ],
)
