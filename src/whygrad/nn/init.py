"""First values of parameters, written in place.

Nothing here is recorded, whatever the grad mode: a parameter stays the leaf it was.  Every draw
takes a ``generator``; without one it comes from the generator that ``manual_seed`` seeds.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from whygrad.errors import describe, fail
from whygrad.ops import functions, table
from whygrad.random import Generator
from whygrad.tensor import Tensor, dtypes, modes

__all__ = [
    "calculate_gain",
    "constant",
    "constant_",
    "dirac",
    "dirac_",
    "eye",
    "eye_",
    "kaiming_normal",
    "kaiming_normal_",
    "kaiming_uniform",
    "kaiming_uniform_",
    "normal",
    "normal_",
    "ones_",
    "orthogonal",
    "orthogonal_",
    "sparse",
    "sparse_",
    "trunc_normal_",
    "uniform",
    "uniform_",
    "xavier_normal",
    "xavier_normal_",
    "xavier_uniform",
    "xavier_uniform_",
    "zeros_",
]

F = TypeVar("F", bound=Callable[..., Any])

_GAINS = {
    **dict.fromkeys(("linear", "conv1d", "conv2d", "conv3d", "sigmoid"), 1.0),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), 1.0),
    "tanh": 5.0 / 3.0,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4.0,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By how much to scale weights so that the signal keeps its size through ``nonlinearity``.

    ``param`` is the negative slope of ``"leaky_relu"``, 0.01 unless given.
    """
    if nonlinearity in _GAINS:
        return _GAINS[nonlinearity]
    if nonlinearity != "leaky_relu":
        raise _refuse(
            f"calculate_gain({nonlinearity!r})",
            f"Unsupported nonlinearity {nonlinearity}",
            f"choose one of {', '.join(sorted([*_GAINS, 'leaky_relu']))}",
        )
    slope = 0.01 if param is None else param
    if isinstance(slope, bool) or not isinstance(slope, (int, float)):
        raise _refuse(
            f"calculate_gain('leaky_relu', {param!r})",
            f"negative_slope {param} not a valid number",
            "pass the slope for negative inputs, such as 0.01",
        )
    return math.sqrt(2.0 / (1.0 + slope**2))


def _unrecorded(fill: F) -> F:
    @functools.wraps(fill)
    def filled(*args: Any, **kwargs: Any) -> Any:
        with modes.no_grad():
            return fill(*args, **kwargs)

    return filled  # type: ignore[return-value]


@_unrecorded
def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Uniform in [a, b)."""
    return tensor.uniform_(a, b, generator=generator)


@_unrecorded
def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Normal with this mean and standard deviation."""
    return tensor.normal_(mean, std, generator=generator)


@_unrecorded
def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Normal, given that it falls into [a, b]; the bounds are values, not multiples of ``std``."""
    if not a - 2 * std <= mean <= b + 2 * std:
        warnings.warn(
            f"mean is more than 2 std from [a, b] in nn.init.trunc_normal_ (mean {mean}, std {std},"
            f" [{a}, {b}]): so little of the bell is left that the values are not exact",
            stacklevel=3,
        )
    # A uniform share of the bell's area between a and b, turned back into a value: in float64,
    # because close to ±1 the inverse of erf needs every digit.
    unit = std * math.sqrt(2.0)
    area = functions["empty"](tensor.shape, dtype=dtypes.of("float64"), device=tensor.device)
    area.uniform_(math.erf((a - mean) / unit), math.erf((b - mean) / unit), generator=generator)
    return tensor.copy_((area.erfinv() * unit + mean).clamp(a, b))


@_unrecorded
def constant_(tensor: Tensor, val: float) -> Tensor:
    """The same number everywhere."""
    return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """1 everywhere."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """0 everywhere."""
    return constant_(tensor, 0.0)


@_unrecorded
def eye_(tensor: Tensor) -> Tensor:
    """The identity, as far as a matrix that is not square allows it."""
    _require_dims("eye_", tensor, (2,), "Only tensors with 2 dimensions are supported")
    return tensor.copy_(functions["eye"](*tensor.shape, dtype=tensor.dtype, device=tensor.device))


@_unrecorded
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """A convolution that passes on as many channels as it can, unchanged; per group of channels."""
    cause = "Only tensors with 3, 4, or 5 dimensions are supported"
    _require_dims("dirac_", tensor, (3, 4, 5), cause)
    outputs, inputs = tensor.shape[:2]
    if outputs % groups:
        raise _refuse(
            f"dirac_({describe(tensor)}, groups={groups})",
            "dim 0 must be divisible by groups",
            "use as many groups as the convolution has",
        )
    tensor.zero_()
    center = tuple(size // 2 for size in tensor.shape[2:])
    per_group = outputs // groups
    for group in range(groups):
        for channel in range(min(per_group, inputs)):
            tensor[(group * per_group + channel, channel, *center)] = 1.0
    return tensor


@_unrecorded
def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Uniform, with the variance that lets signals and gradients keep their size on average."""
    bound = math.sqrt(3.0) * _xavier_std(tensor, gain)
    return tensor.uniform_(-bound, bound, generator=generator)


@_unrecorded
def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal, with the variance of :func:`xavier_uniform_`."""
    return tensor.normal_(0.0, _xavier_std(tensor, gain), generator=generator)


@_unrecorded
def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Uniform, with the variance that suits a layer followed by ``nonlinearity``.

    ``mode`` says what keeps its size: signals (``"fan_in"``) or gradients (``"fan_out"``).
    ``a`` is the negative slope of a leaky ReLU.
    """
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor.uniform_(-bound, bound, generator=generator)


@_unrecorded
def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Normal, with the variance of :func:`kaiming_uniform_`."""
    if _is_empty(tensor):
        return tensor
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor.normal_(0.0, std, generator=generator)


@_unrecorded
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """A matrix (all but the first dimension flattened) whose rows or columns are orthonormal.

    Every such matrix is equally likely.
    """
    if tensor.ndim < 2:
        raise _refuse(
            f"orthogonal_({describe(tensor)})",
            "Only tensors with 2 or more dimensions are supported",
            "reshape it to a matrix, or draw it with normal_",
        )
    if not tensor.numel():
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    drawn = functions["randn"](
        max(rows, columns),
        min(rows, columns),
        dtype=dtypes.promote_types(tensor.dtype, dtypes.of("float64")),
        device=tensor.device,
        generator=generator,
    )
    q, r = table["linalg_qr"].public(drawn)
    q = q * r.diagonal().sgn()  # QR chose the signs of r; freed of that, all are equally likely
    if rows < columns:
        q = q.t()
    return tensor.copy_((q * gain).reshape(tensor.shape))


@_unrecorded
def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None
) -> Tensor:
    """Normal with this ``std``, and a share ``sparsity`` of every column exactly 0."""
    _require_dims("sparse_", tensor, (2,), "Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    tensor.normal_(0.0, std, generator=generator)
    for column in range(columns):
        chosen = functions["randperm"](rows, generator=generator)[:zeros]
        tensor[chosen, column] = 0.0
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs an output depends on, and how many outputs depend on an input."""
    if tensor.ndim < 2:
        raise _refuse(
            f"an initialisation of {describe(tensor)}",
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions",
            "use uniform_, normal_ or zeros_ for biases",
        )
    outputs, inputs, *window = tensor.shape
    taps = math.prod(window)
    return inputs * taps, outputs * taps


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    fans = dict(zip(("fan_in", "fan_out"), _calculate_fan_in_and_fan_out(tensor), strict=True))
    chosen = str(mode).lower()
    if chosen not in fans:
        raise _refuse(
            f"kaiming initialisation of {describe(tensor)} with mode={mode!r}",
            f"Mode {mode} not supported, please use one of {list(fans)}",
            "fan_in keeps the size of signals, fan_out that of gradients",
        )
    return fans[chosen]


def _xavier_std(tensor: Tensor, gain: float) -> float:
    fans = sum(_calculate_fan_in_and_fan_out(tensor))
    return gain * math.sqrt(2.0 / fans) if fans else 0.0


def _kaiming_std(tensor: Tensor, slope: float, mode: str, nonlinearity: str) -> float:
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, slope) / math.sqrt(fan)


def _is_empty(tensor: Tensor) -> bool:
    if 0 not in tensor.shape:
        return False
    warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=4)
    return True


def _require_dims(name: str, tensor: Tensor, allowed: tuple[int, ...], cause: str) -> None:
    if tensor.ndim not in allowed:
        raise _refuse(f"{name}({describe(tensor)})", cause, "reshape it, or choose another scheme")


def _refuse(call: str, cause: str, fix: str) -> ValueError:
    return fail(ValueError, call=call, cause=cause, fix=fix)


def _older(current: F) -> F:
    """The name without the underscore, from before in-place functions had one."""
    new = current.__name__
    name = new.removesuffix("_")

    @functools.wraps(current)
    def warned(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            f"`nn.init.{name}` is now deprecated in favor of `nn.init.{new}`.",
            FutureWarning,
            stacklevel=2,
        )
        return current(*args, **kwargs)

    warned.__name__ = warned.__qualname__ = name
    return warned  # type: ignore[return-value]


constant = _older(constant_)
dirac = _older(dirac_)
eye = _older(eye_)
kaiming_normal = _older(kaiming_normal_)
kaiming_uniform = _older(kaiming_uniform_)
normal = _older(normal_)
orthogonal = _older(orthogonal_)
sparse = _older(sparse_)
uniform = _older(uniform_)
xavier_normal = _older(xavier_normal_)
xavier_uniform = _older(xavier_uniform_)
