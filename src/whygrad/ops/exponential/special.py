"""Special functions: the logistic curve, the error function, the gamma function.

SciPy computes what NumPy does not have; it is imported when such a function is first called,
because the import takes longer than that of this whole package.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from whygrad.errors import describe_call, fail
from whygrad.ops.define import elementwise
from whygrad.ops.undefined import BEYOND_ONE, LOGARITHM, Undefined
from whygrad.tensor import Tensor

Array = Any


def _scipy(name: str) -> Callable[[Array], Array]:
    """A kernel by its name in ``scipy.special``."""

    def kernel(x: Array) -> Array:
        from scipy import special

        return getattr(special, name)(x)

    return kernel


def _sigmoid(x: Array) -> Array:
    """1/(1 + e⁻ˣ) in one buffer; where e⁻ˣ is infinite the result is exactly 0."""
    out = np.asarray(np.negative(x))
    np.exp(out, out)
    out += 1
    return np.reciprocal(out, out)


elementwise(
    "sigmoid(x)",
    "y = 1/(1 + e⁻ˣ);  ∂y/∂x = y·(1 − y)",
    complex_rule="holomorphic",
    image=(0.0, 1.0),
    forward=_sigmoid,
    vjp={"x": lambda xp, incoming, y: incoming * (y * (1 - y))},
)


def _logit(x: Array, eps: float | None) -> Array:
    if eps is not None:
        x = np.clip(x, eps, 1 - eps)
    return np.log(x / (1 - x))


def _slope_of_logit(xp: Any, incoming: Array, x: Array, eps: float | None) -> Array:
    slope = incoming / (x * (1 - x))
    low, high, outside = (0.0, 1.0, math.nan) if eps is None else (eps, 1 - eps, 0.0)
    return xp.where(x < low, outside, xp.where(x > high, outside, slope))


elementwise(
    "logit(x; eps)",
    "y = ln(x/(1 − x)), x clamped to [eps, 1 − eps];  ∂y/∂x = 1/(x·(1 − x)), 0 where clamped",
    undefined=(
        Undefined(
            lambda v: (v["x"] <= 0) | (v["x"] >= 1),
            "it is defined between 0 and 1 only",
            "pass eps: x.logit(eps=1e-6)",
            "log",
            "values are at or beyond its limits",
            safe=0.5,
        ),
        Undefined(
            lambda v: (v["x"] == 0) | (v["x"] == 1),
            "the slope is infinite at 0 and 1",
            "pass eps: x.logit(eps=1e-6)",
            "log",
            "values are at or beyond its limits",
            backward=True,
        ),
    ),
    forward=_logit,
    vjp={"x": _slope_of_logit},
    subgradient="the slope of the curve on the bounds themselves",
    public=lambda input, eps=None: (input, eps),
    samples=lambda make: [
        make.call(make(3, 4, low=0.1, high=0.9)),
        make.call(make(low=0.1, high=0.9)),
        make.call(make(0, 3)),
        make.call(make(3, 4, low=-0.5, high=1.5), 0.2),
        make.call(make(5, low=0.0, high=1.0), eps=1e-3),
    ],
)
elementwise(
    "erf(x)",
    "y = 2/√π·∫₀ˣ e^(−t²) dt;  ∂y/∂x = 2/√π·e^(−x²)",
    image=(-1.0, 1.0),
    forward=_scipy("erf"),
    vjp={"x": lambda xp, incoming, x: incoming * (2 / math.sqrt(math.pi) * xp.exp(-x * x))},
)
elementwise(
    "erfc(x)",
    "y = 1 − erf x;  ∂y/∂x = −2/√π·e^(−x²)",
    forward=_scipy("erfc"),
    vjp={"x": lambda xp, incoming, x: incoming * (-2 / math.sqrt(math.pi) * xp.exp(-x * x))},
)


def _erfinv_slope(xp: Any, y: Any) -> Any:
    return math.sqrt(math.pi) / 2 * xp.exp(y * y)


elementwise(
    "erfinv(x)",
    "erf y = x;  ∂y/∂x = √π/2·e^(y²)",
    undefined=BEYOND_ONE,
    forward=_scipy("erfinv"),
    vjp={"x": lambda xp, incoming, x: incoming * _erfinv_slope(xp, xp.erfinv(x))},
    domain={"x": (-0.8, 0.8)},
)


def _lgamma(x: Array) -> Array:
    from scipy import special

    result = special.gammaln(x)
    result = np.where(result == -math.inf, math.inf, result)  # SciPy: −∞ at −∞; C and PyTorch: ∞
    size = np.abs(x)
    tiny = (size > 0) & (size < np.finfo(x.dtype).tiny)  # SciPy: ∞, but Γ(x) = 1/x there
    return np.where(tiny, -np.log(np.where(tiny, size, 1)), result) if tiny.any() else result


elementwise(
    "lgamma(x)",
    "y = ln |Γ(x)|;  ∂y/∂x = ψ(x), the digamma function",
    forward=_lgamma,
    vjp={"x": lambda xp, incoming, x: incoming * xp.digamma(x)},
    domain={"x": (0.3, 4.0)},
)
elementwise(
    "digamma(x)",
    "y = ψ(x) = Γ′(x)/Γ(x);  ∂y/∂x = ψ′(x), polygamma of order 1",
    forward=_scipy("psi"),
    vjp={"x": lambda xp, incoming, x: incoming * xp.polygamma(x, 1)},
    domain={"x": (0.3, 4.0)},
)


def _polygamma(x: Array, n: int) -> Array:
    from scipy import special

    if n == 0:
        return special.psi(x)
    sign = 1.0 if n % 2 else -1.0
    return sign * math.factorial(n) * special.zeta(np.asarray(n + 1, x.dtype), x)


def _polygamma_args(n: Any, input: Any) -> tuple[Tensor, int]:
    if isinstance(n, Tensor):  # as a method, the tensor comes first
        n, input = input, n
    n = operator.index(n)
    if n < 0:
        raise fail(
            RuntimeError,
            call=describe_call("polygamma", ("n", "input"), (n, input)),
            cause="polygamma(n, x) does not support negative n",
            fix="n counts derivatives of digamma: pass 0 or more",
        )
    return input, n


elementwise(
    "polygamma(x; n)",
    "y = the n-th derivative of ψ;  ∂y/∂x = polygamma of order n + 1",
    forward=_polygamma,
    vjp={"x": lambda xp, incoming, x, n: incoming * xp.polygamma(x, n + 1)},
    public=_polygamma_args,
    samples=lambda make: [
        make.call(order, make(*shape, low=0.5, high=3.0))
        for order, shape in ((0, (3,)), (1, (3, 4)), (2, (3,)), (3, ()), (1, (0, 2)))
    ],
)


def _xlogy(a: Array, b: Array) -> Array:
    from scipy import special

    dtype = (a if hasattr(a, "dtype") else b).dtype  # SciPy would compute a number in float64
    return special.xlogy(np.asarray(a, dtype), np.asarray(b, dtype))


def _slope_of_factor(xp: Any, incoming: Array, a: Array, b: Array) -> Array:
    slope = xp.xlogy(incoming, b)
    return xp.where(a == 0, xp.where(b <= 0, 0.0, slope), slope)


def _of_b(case: Undefined) -> Undefined:
    """What a logarithm cannot compute, where its argument is called b."""
    return case._replace(
        where=lambda v: case.where({"x": v["b"]}),
        fix="keep b positive: b.clamp(min=1e-8)",
        operand="b",
    )


elementwise(
    "xlogy(a, b)",
    "y = a·ln b, 0 where a = 0;  ∂y/∂a = ln b,  ∂y/∂b = a/b",
    undefined=tuple(_of_b(each) for each in LOGARITHM),
    forward=_xlogy,
    vjp={
        "a": _slope_of_factor,
        "b": lambda xp, incoming, a, b: incoming * (a / b),
    },
    subgradient="0 for a at a = 0 with b ≤ 0",
    samples=lambda make: [
        *make.pairs(low=0.3),
        make.call(make(3), 1.5),
        make.call(1.5, make(3, low=0.3)),
        make.call(make.ints(3), make.ints(3, low=1)),
    ],
)
