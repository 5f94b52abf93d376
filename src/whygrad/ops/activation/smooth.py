"""Curved activations: what stands between the layers of a network.

Where a formula holds only on one side and could overflow on the other, its argument is held back
first: ``where`` hides a value but not its derivative, and 0·∞ is NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.errors import fail
from whygrad.ops.complex_numbers import is_complex, real_product
from whygrad.ops.define import composite, elementwise
from whygrad.ops.geometry import normalize_dim
from whygrad.ops.indexing.masking import choose
from whygrad.tensor import Tensor

__all__ = ["NUMBERS", "ONLY_FLOATS", "glu", "tanhshrink"]

Array = Any

_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946

# Kinds of number that PyTorch does not take either, for the ``refuses`` of an op.
ONLY_FLOATS = {
    "bool": ("not implemented for bool tensors", "convert the input first: x.float()"),
    "integer": ("not implemented for integer tensors", "convert the input first: x.float()"),
    "complex": ("not implemented for complex tensors", "apply it to x.real and x.imag"),
}
NUMBERS = {kind: ONLY_FLOATS[kind] for kind in ("bool", "complex")}
NO_WHOLE = {kind: ONLY_FLOATS[kind] for kind in ("bool", "integer")}


def _elu(x: Array, alpha: float, scale: float = 1.0, input_scale: float = 1.0) -> Array:
    out = np.minimum(x, 0, out=np.empty_like(x))
    if input_scale != 1.0:
        out *= input_scale
    np.expm1(out, out)
    out *= alpha
    out += np.maximum(x, 0)
    if scale != 1.0:
        out *= scale
    return out


def _elu_slope(xp: Any, x: Array, alpha: float, scale: float, input_scale: float) -> Array:
    negative = xp.where(x <= 0, x, 0.0)
    curved = (scale * alpha * input_scale) * xp.exp(negative * input_scale)
    return xp.where(x <= 0, curved, scale)


def _elu_args(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Any:
    """x where positive, alpha·(eˣ − 1) elsewhere"""
    return input.elu_(alpha) if inplace else (input, float(alpha))


elementwise(
    "elu(x; alpha)",
    "y = x if x > 0 else α·(eˣ − 1);  ∂y/∂x = 1 or α·eˣ",
    forward=_elu,
    vjp={"x": lambda xp, incoming, x, alpha: incoming * _elu_slope(xp, x, alpha, 1.0, 1.0)},
    kinks={"x": (0.0,)},
    subgradient="alpha at 0",
    refuses=ONLY_FLOATS,
    public=_elu_args,
    torch="nn.functional.elu",
    inplace=True,
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make(), 0.5),
        make.call(make(0, 3), alpha=2),
    ],
)
elementwise(
    "selu(x)",
    "y = λ·(x if x > 0 else α·(eˣ − 1)) with fixed λ, α;  ∂y/∂x = λ or λ·α·eˣ",
    forward=lambda x: _elu(x, _SELU_ALPHA, _SELU_SCALE),
    vjp={"x": lambda xp, incoming, x: incoming * _elu_slope(xp, x, _SELU_ALPHA, _SELU_SCALE, 1.0)},
    kinks={"x": (0.0,)},
    subgradient="λ·α at 0",
    refuses=ONLY_FLOATS,
    public=lambda input, inplace=False: input.selu_() if inplace else (input,),
    method=False,
    inplace=True,
)


def _celu_args(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Any:
    """x where positive, alpha·(exp(x / alpha) − 1) elsewhere"""
    if alpha == 0:
        raise fail(
            RuntimeError,
            call="celu(x, alpha=0)",
            cause="ZeroDivisionError: alpha cannot be 0 for CELU",
            fix="pass alpha > 0",
        )
    return input.celu_(alpha) if inplace else (input, float(alpha))


elementwise(
    "celu(x; alpha)",
    "y = x if x > 0 else α·(exp(x/α) − 1);  ∂y/∂x = 1 or exp(x/α)",
    forward=lambda x, alpha: _elu(x, alpha, 1.0, 1.0 / alpha),
    vjp={"x": lambda xp, incoming, x, alpha: incoming * _elu_slope(xp, x, alpha, 1.0, 1.0 / alpha)},
    refuses=ONLY_FLOATS,
    public=_celu_args,
    method=False,
    inplace=True,
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make(), 0.5),
        make.call(make(0, 3), alpha=2),
    ],
)


def _silu(x: Array) -> Array:
    out = np.negative(x, out=np.empty_like(x))
    np.exp(out, out)
    out += 1.0
    return np.divide(x, out, out)


def _silu_rule(xp: Any, incoming: Array, x: Array) -> Array:
    sigmoid = xp.sigmoid(x)
    return incoming * (sigmoid * (1.0 + x * (1.0 - sigmoid)))


elementwise(
    "silu(x)",
    "y = x·σ(x);  ∂y/∂x = σ(x)·(1 + x·(1 − σ(x)))",
    complex_rule="holomorphic",
    forward=_silu,
    vjp={"x": _silu_rule},
    refuses=NO_WHOLE,
    public=lambda input, inplace=False: input.silu_() if inplace else (input,),
    torch="nn.functional.silu",
    inplace=True,
)


def _softplus(x: Array, beta: float, threshold: float) -> Array:
    scaled = x * beta
    out = np.exp(scaled, out=np.empty_like(x))
    np.log1p(out, out)
    out /= beta
    return choose(scaled > threshold, x, out)


elementwise(
    "softplus(x; beta, threshold)",
    "y = log(1 + exp(β·x)) / β, and x itself where β·x > threshold;  ∂y/∂x = σ(β·x) or 1",
    image=(0.0, np.inf),
    forward=_softplus,
    vjp={
        "x": lambda xp, incoming, x, beta, threshold: xp.where(
            x * beta > threshold, incoming, incoming * xp.sigmoid(x * beta)
        )
    },
    kinks={"x": (20.0,)},
    subgradient="σ(β·x) where β·x equals threshold",
    refuses=ONLY_FLOATS,
    public=lambda input, beta=1.0, threshold=20.0: (input, float(beta), float(threshold)),
    torch="nn.functional.softplus",
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make()),
        make.call(make(0, 3)),
        make.call(make(5, low=18, high=19.9)),
        make.call(make(5, low=20.1, high=30)),
        make.call(make(3, 4), 2, threshold=100),
    ],
)


def _mish(x: Array) -> Array:
    out = np.exp(x, out=np.empty_like(x))
    np.log1p(out, out)
    np.tanh(out, out)
    out *= x
    return out


def _mish_rule(xp: Any, incoming: Array, x: Array) -> Array:
    tanh = xp.tanh(xp.softplus(x, 1.0, 20.0))
    return incoming * (tanh + x * (xp.sigmoid(x) * (1.0 - tanh * tanh)))


elementwise(
    "mish(x)",
    "y = x·t with t = tanh(log(1 + eˣ));  ∂y/∂x = t + x·σ(x)·(1 − t²)",
    forward=_mish,
    vjp={"x": _mish_rule},
    refuses=ONLY_FLOATS,
    public=lambda input, inplace=False: input.mish_() if inplace else (input,),
    torch="nn.functional.mish",
    inplace=True,
)


def _logsigmoid(x: Array) -> Array:
    out = np.abs(x, out=np.empty_like(x))
    np.negative(out, out)
    np.exp(out, out)
    np.log1p(out, out)
    return np.subtract(np.minimum(x, 0), out, out)


elementwise(
    "logsigmoid(x)",
    "y = log σ(x) = min(x, 0) − log(1 + exp(−|x|));  ∂y/∂x = σ(−x)",
    image=(-np.inf, 0.0),
    forward=_logsigmoid,
    vjp={"x": lambda xp, incoming, x: incoming * xp.sigmoid(-x)},
    refuses=ONLY_FLOATS,
    torch="nn.functional.logsigmoid",
)


def _softsign_rule(xp: Any, incoming: Array, x: Array) -> Array:
    """For tangents as for gradients: the slope is its own adjoint."""
    root = 1.0 / (1.0 + xp.abs(x))
    if not is_complex(x):
        return incoming * (root * root)
    outward = xp.sgn(x)  # |x| grows by the part in its direction
    return incoming * root - x * (root * root) * real_product(xp, incoming, outward)


elementwise(
    "softsign(x)",
    "y = x / (1 + |x|);  ∂y/∂x = 1 / (1 + |x|)²",
    image=(-1.0, 1.0),
    forward=lambda x: x / (1.0 + np.abs(x)),
    vjp={"x": _softsign_rule},
    jvp=lambda xp, tangents, x: _softsign_rule(xp, tangents[0], x),
    complex_rule="own",
    refuses={"bool": ONLY_FLOATS["bool"]},
    torch="nn.functional.softsign",
)


def tanhshrink(input: Tensor) -> Tensor:
    """What tanh takes away: x − tanh(x)."""
    return input - input.tanh()


composite(
    tanhshrink,
    "y = x − tanh x",
    torch="nn.functional.tanhshrink",
    samples=lambda make: [make.call(make(3, 4)), make.call(make()), make.call(make(0, 3))],
)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Split in two along ``dim``; the second half gates the first."""
    if input.ndim == 0:
        raise fail(
            RuntimeError,
            call="glu of a 0-d tensor",
            cause="glu does not support scalars because halving size must be even",
            fix="pass a tensor whose size along dim is even",
        )
    axis = normalize_dim(dim, input.ndim, "glu")
    half, odd = divmod(input.shape[axis], 2)
    if odd:
        raise fail(
            RuntimeError,
            call=f"glu of {tuple(input.shape)} along dim {dim}",
            cause=f"Halving dimension must be even, but dimension {axis} is size {2 * half + 1}",
            fix="the first half is the value, the second half its gate: make them equally large",
        )
    return input.narrow(axis, 0, half) * input.narrow(axis, half, half).sigmoid()


composite(
    glu,
    "y = a·σ(b) with a, b the halves of x along dim",
    torch="nn.functional.glu",
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make(4, 3), 0),
        make.call(make(2, 2, 3), dim=-2),
        make.call(make(0, 4)),
    ],
)
