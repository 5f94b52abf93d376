"""Group norm and instance norm: channels of each sample by themselves."""

from __future__ import annotations

from math import prod
from typing import Any

from whygrad.autograd import modes
from whygrad.autograd.source import caller
from whygrad.errors import describe, fail
from whygrad.ops.define import composite, table
from whygrad.ops.normalization.channels import (
    batch_norm,
    check_vectors,
    constant,
    move_towards,
    unbiasing,
)
from whygrad.ops.normalization.statistics import check_dtype, scaled_and_shifted
from whygrad.tensor import Tensor

__all__ = ["functional_instance_norm", "group_norm", "instance_norm"]


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Mean 0 and variance 1 over each group of channels, sample by sample."""
    _check_groups(input, num_groups, weight=weight, bias=bias)
    samples, channels, *positions = input.shape
    count = channels // num_groups * prod(positions)
    grouped = input.reshape(samples, num_groups, count)
    standard = table["layer_norm"].call(grouped, None, None, 1, float(eps))[0]
    fitting = (channels, *(1,) * len(positions))
    return scaled_and_shifted(standard.reshape(input.shape), weight, bias, fitting)


def _check_groups(input: Tensor, groups: int, **vectors: Tensor | None) -> None:
    def refuse(cause: str, fix: str, kind: type[Exception] = RuntimeError) -> Exception:
        call = f"group_norm({describe(input)}, num_groups={groups})"
        return fail(kind, call=call, cause=cause, fix=fix, where=caller())

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


composite(
    group_norm,
    "x̂ = (x − mean)/√(var + ε) per sample and group of channels, y = x̂·weight + bias",
    torch="nn.functional.group_norm",
    method=False,
    samples=lambda make: [
        make.call(make(2, 8), 2, make(8), make(8)),
        make.call(make(2, 4, 3), 2, make(4), make(4), 0.1),
        make.call(make(2, 4, 2, 2), 1, make(4)),
        make.call(make(2, 4, 3), 4),
        make.call(make(0, 4, 3), 2, make(4), make(4)),
    ],
)


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
    _check_instances(input, use_input_stats, vectors)
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
    fitting = (channels, *(1,) * len(positions))
    return scaled_and_shifted(y.reshape(input.shape), weight, bias, fitting)


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
            where=caller(),
        )
    if not use_input_stats and (vectors["running_mean"] is None or vectors["running_var"] is None):
        raise fail(
            RuntimeError,
            call=call,
            cause="Expected running_mean and running_var to be defined when use_input_stats is "
            "false",
            fix="pass both running statistics, or use_input_stats=True",
            where=caller(),
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
