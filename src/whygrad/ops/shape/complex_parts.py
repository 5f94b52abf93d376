"""Complex numbers and their two real parts.

None of these is holomorphic, so each has its own rule; gradients are PyTorch's (see
:mod:`whygrad.ops.complex_numbers`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import aligned, leading_dims
from whygrad.ops.complex_numbers import is_complex, real_product
from whygrad.ops.define import composite, define, elementwise
from whygrad.tensor import Tensor, keys

Array = Any


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
            )
        return a, b

    return check


_check_complex = _pair_of_floats("complex", "real", "imag")
_check_polar = _pair_of_floats("polar", "abs", "angle")


def _pair_meta(a: Array, b: Array) -> Any:
    return np.broadcast_shapes(a.shape, b.shape), _as_complex(a.dtype)


def _pair_samples(make: Any) -> list[Any]:
    return [
        make.call(make(3, 4, low=0.3), make(4)),
        make.call(make(low=0.3), make()),
        make.call(make(2, 1, low=0.3), make.constant(make(3))),
    ]


define(
    "complex(a, b)",
    "y = a + i·b;  ∂a = Re incoming,  ∂b = Im incoming",
    forward=_complex,
    vjp={
        "a": lambda xp, incoming: xp.real_part(incoming),
        "b": lambda xp, incoming: xp.imaginary_part(incoming),
    },
    linear=True,
    meta=_pair_meta,
    batching=aligned,
    public=lambda real, imag: _check_complex(real, imag),
    method=False,
    samples=_pair_samples,
)


def _direction(xp: Any, angle: Array) -> Array:
    return xp.polar(xp.ones_like(angle), angle)


def _polar_tangent(xp: Any, tangents: Any, b: Array, y: Array) -> Array:
    moved = [
        None if tangents[0] is None else tangents[0] * _direction(xp, b),
        None if tangents[1] is None else tangents[1] * (y * 1j),
    ]
    known = [each for each in moved if each is not None]
    return known[0] if len(known) == 1 else known[0] + known[1]


define(
    "polar(a, b)",
    "y = a·(cos b + i·sin b);  ∂a = how far incoming goes along y, ∂b = how far across it",
    forward=_polar,
    vjp={
        "a": lambda xp, incoming, b: real_product(xp, incoming, _direction(xp, b)),
        "b": lambda xp, incoming, y: real_product(xp, incoming, y * 1j),
    },
    jvp=_polar_tangent,
    flat=("a",),
    notes="for a size below 0 the gradient is that of the formula; PyTorch's has the other sign",
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
        )
    return (input,)


def _unpaired(input: Tensor) -> bool:
    """Whether some pair would begin in the middle of a complex number."""
    if input._keys & keys.BATCHED:
        return False  # a sample lies wherever its batch does
    return any(step % 2 for step in input.stride()[:-1]) or bool(input.storage_offset() % 2)


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
    elif _unpaired(input):
        cause = "Tensor must have a stride divisible by 2 for all but last dimension"
    if cause:
        raise fail(
            RuntimeError,
            call=f"view_as_complex({describe(input)})",
            cause=cause,
            fix="make it (…, 2) in row-major order: x.contiguous()",
        )
    return (input,)


def _side_by_side(xp: Any, incoming: Array) -> Array:
    return xp.stack([xp.real_part(incoming), xp.imaginary_part(incoming)], incoming.ndim)


define(
    "view_as_real(x)",
    "y[…, 0], y[…, 1] = Re x, Im x, same memory;  ∂x = incoming[…, 0] + i·incoming[…, 1]",
    forward=lambda x: x[..., None].view(x.real.dtype),
    vjp={"x": lambda xp, incoming: xp.complex(incoming[..., 0], incoming[..., 1])},
    jvp=lambda xp, tangents: xp.view_as_real(tangents[0]),
    complex_rule="own",
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
    "y = x[…, 0] + i·x[…, 1], same memory;  ∂x[…, 0], ∂x[…, 1] = Re, Im of incoming",
    forward=lambda x: x.view(_as_complex(x.dtype))[..., 0],
    vjp={"x": lambda xp, incoming: _side_by_side(xp, incoming)},
    jvp=lambda xp, tangents: xp.complex(tangents[0][..., 0], tangents[0][..., 1]),
    kind="view",
    batching=leading_dims,
    public=_as_complex_args,
    method=False,
    samples=lambda make: [
        make.call(make(3, 2)),
        make.call(make(2)),
    ],
    autocast="float32",
)


def _angle(x: Array) -> Array:
    if x.dtype.kind == "c":
        return np.angle(x)
    return np.where(np.isnan(x), x, np.where(x < 0, x.dtype.type(math.pi), x.dtype.type(0)))


def _across(xp: Any, incoming: Array, x: Array) -> Array:
    """i·x/|x|²: a step across x turns it, and the more so the shorter it is."""
    if not is_complex(x):
        return xp.zeros_like(incoming)
    square = xp.square(xp.abs(x))
    return xp.where(square == 0, 0.0, incoming * 1j * x / square)


elementwise(
    "angle(x)",
    "y = the direction of x in the complex plane: 0 or π for a real x;  ∂x = incoming·i·x/|x|²",
    forward=_angle,
    vjp={"x": _across},
    jvp=lambda xp, tangents, x: real_product(xp, tangents[0], _across(xp, xp.ones_like(x), x)),
    complex_rule="own",
    meta=lambda x: (x.shape, x.real.dtype if x.dtype.kind == "c" else x.dtype),
    subgradient="0 at x = 0 as well",
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make.ints(3, low=-2)),
        make.call(make(3).astype(complex) * (1 + 2j)),
        make.call(make(0, 2)),
    ],
    inplace=False,
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
