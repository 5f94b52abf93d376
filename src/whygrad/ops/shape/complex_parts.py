"""Complex numbers and their two real parts.

Complex tensors compute forward only: what would carry a gradient into one is refused, here and by
the dispatcher, and never silently cut.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from whygrad import keys
from whygrad.autograd import modes
from whygrad.autograd.source import caller
from whygrad.errors import describe, fail
from whygrad.ops.batching import aligned, leading_dims
from whygrad.ops.define import composite, define, elementwise
from whygrad.tensor import Tensor

__all__ = ["refuse_history"]

Array = Any


def refuse_history(name: str, *tensors: Tensor) -> None:
    """Raise if a gradient would have to come back through a complex result."""
    followed = modes.state.recording and any(each.requires_grad for each in tensors)
    if followed or any(each._keys & keys.FORWARD for each in tensors):
        raise fail(
            RuntimeError,
            call=f"{name}({', '.join(map(describe, tensors))})",
            cause="gradients through complex numbers are not supported; complex is forward only",
            fix="detach() the input that requires grad, or compute with real and imaginary parts",
            where=caller(),
        )


def _as_complex(dtype: Any) -> Any:
    return np.dtype(np.complex128 if dtype == np.float64 else np.complex64)


def _complex(real: Array, imaginary: Array) -> Array:
    out = np.empty(np.broadcast_shapes(real.shape, imaginary.shape), _as_complex(real.dtype))
    out.real, out.imag = real, imaginary
    return out


def _polar(size: Array, direction: Array) -> Array:
    return _complex(size * np.cos(direction), size * np.sin(direction))


def _pair_of_floats(name: str, first: str, second: str) -> Callable[..., Any]:
    def check(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        cause = ""
        if not (a.dtype.is_floating_point and b.dtype.is_floating_point):
            cause = (
                f"Expected both inputs to be Half, Float or Double tensors but got "
                f"{a.dtype.name} and {b.dtype.name}"
            )
        elif a.dtype is not b.dtype:
            cause = f"Expected object of scalar type {a.dtype.name} but got {b.dtype.name}"
        if cause:
            raise fail(
                RuntimeError,
                call=f"{name}({first}={describe(a)}, {second}={describe(b)})",
                cause=cause,
                fix="convert both to the same float dtype",
                where=caller(),
            )
        refuse_history(name, a, b)
        return a, b

    return check


_check_complex = _pair_of_floats("complex", "real", "imag")
_check_polar = _pair_of_floats("polar", "abs", "angle")


def _pair_meta(a: Array, b: Array) -> Any:
    return np.broadcast_shapes(a.shape, b.shape), _as_complex(a.dtype)


def _pair_samples(make: Any) -> list[Any]:
    return [
        make.call(make.constant(make(3, 4)), make.constant(make(4))),
        make.call(make.constant(make()), make.constant(make())),
    ]


define(
    "complex(a, b)",
    "y = a + i·b;  no gradient",
    forward=_complex,
    vjp=None,
    meta=_pair_meta,
    batching=aligned,
    public=lambda real, imag: _check_complex(real, imag),
    method=False,
    samples=_pair_samples,
)
define(
    "polar(a, b)",
    "y = a·(cos b + i·sin b);  no gradient",
    forward=_polar,
    vjp=None,
    meta=_pair_meta,
    batching=aligned,
    public=lambda abs, angle: _check_polar(abs, angle),
    method=False,
    samples=_pair_samples,
)


def _as_real_args(input: Tensor) -> tuple[Tensor]:
    """Real and imaginary parts as a new last dimension, same memory."""
    if not input.dtype.is_complex:
        raise fail(
            RuntimeError,
            call=f"view_as_real({describe(input)})",
            cause="view_as_real is only supported for complex tensors",
            fix="a real tensor has one part only: use it as it is",
            where=caller(),
        )
    return (input,)


def _as_complex_args(input: Tensor) -> tuple[Tensor]:
    """Pairs along the last dimension as complex numbers, same memory."""
    cause = ""
    if not input.dtype.is_floating_point:
        cause = f"view_as_complex is only supported for floating point tensors, not {input.dtype}"
    elif not input.ndim:
        cause = "Input tensor must have one or more dimensions"
    elif input.shape[-1] != 2:
        cause = "Tensor must have a last dimension of size 2"
    elif input.stride(-1) != 1:
        cause = "Tensor must have a last dimension with stride 1"
    elif any(step % 2 for step in input.stride()[:-1]) or input.storage_offset() % 2:
        cause = "Tensor must have a stride divisible by 2 for all but last dimension"
    if cause:
        raise fail(
            RuntimeError,
            call=f"view_as_complex({describe(input)})",
            cause=cause,
            fix="make it (…, 2) in row-major order: x.contiguous()",
            where=caller(),
        )
    refuse_history("view_as_complex", input)
    return (input,)


define(
    "view_as_real(x)",
    "y[…, 0], y[…, 1] = Re x, Im x, same memory;  no gradient",
    forward=lambda x: x[..., None].view(x.real.dtype),
    vjp=None,
    kind="view",
    batching=leading_dims,
    public=_as_real_args,
    method=False,
    samples=lambda make: [
        make.call(make(2, 3).astype(complex) * (1 + 2j)),
        make.call(np.asarray(1.5 - 2j)),
    ],
)
define(
    "view_as_complex(x)",
    "y = x[…, 0] + i·x[…, 1], same memory;  no gradient",
    forward=lambda x: x.view(_as_complex(x.dtype))[..., 0],
    vjp=None,
    kind="view",
    batching=leading_dims,
    public=_as_complex_args,
    method=False,
    samples=lambda make: [
        make.call(make.constant(make(3, 2))),
        make.call(make.constant(make(2))),
    ],
)


def _angle(x: Array) -> Array:
    if x.dtype.kind == "c":
        return np.angle(x)
    return np.where(np.isnan(x), x, np.where(x < 0, x.dtype.type(math.pi), x.dtype.type(0)))


elementwise(
    "angle(x)",
    "y = the direction of x in the complex plane: 0 or π for a real x;  ∂y/∂x = 0 for real x",
    forward=_angle,
    vjp={"x": lambda xp, incoming: xp.zeros_like(incoming)},
    meta=lambda x: (x.shape, x.real.dtype if x.dtype.kind == "c" else x.dtype),
    subgradient="0 at x = 0 as well",
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make.ints(3, low=-2)),
        make.call(make(3).astype(complex) * (1 + 2j)),
        make.call(make(0, 2)),
    ],
)


def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself: a conjugate is computed at once here, never put off."""
    return input


def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself: a negative is computed at once here, never put off."""
    return input


def is_conj(input: Tensor) -> bool:
    """Whether a conjugate has been put off: never."""
    return False


def is_neg(input: Tensor) -> bool:
    """Whether a negative has been put off: never."""
    return False


for _each in (resolve_conj, resolve_neg):
    composite(_each, "y = x", samples=lambda make: [make.call(make(2, 3))])
for _question in (is_conj, is_neg):
    composite(
        _question,
        "always False: nothing is put off",
        differentiable=False,
        samples=lambda make: [make.call(make.constant(make(2)))],
    )
