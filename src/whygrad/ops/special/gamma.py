"""Incomplete and multivariate gamma functions, and the zeta function."""

from __future__ import annotations

import math
from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops.define import composite, elementwise, table
from whygrad.ops.special.kernels import scipy_kernel
from whygrad.tensor import Tensor, dtypes

Array = Any


def _no_derivative(name: str) -> Any:
    """A rule for an argument whose derivative has no closed form: said, not silently dropped."""

    def rule(xp: Any, incoming: Array) -> Array:
        raise fail(
            NotImplementedError,
            call=f"the gradient of {name} with respect to its first argument",
            cause=f"the derivative for '{name}: input' is not implemented",
            fix="detach() the first argument",
        )

    return rule


def _density(xp: Any, a: Array, b: Array) -> Array:
    """bᵃ⁻¹·e⁻ᵇ/Γ(a)."""
    return xp.exp((a - 1) * xp.log(b) - b - xp.lgamma(a))


def _pairs(make: Any) -> list[Any]:
    return [
        make.call(make.constant(make(3, 4, low=0.3, high=3.0)), make(4, low=0.3, high=3.0)),
        make.call(make.constant(make(low=0.5)), make(low=0.5)),
        make.call(make.constant(make(0, 3)), make(3)),
    ]


for _name, _kernel, _sign, _words in (
    ("igamma", "gammainc", 1, "lower"),
    ("igammac", "gammaincc", -1, "upper"),
):
    elementwise(
        f"{_name}(a, b)",
        f"y = the regularised {_words} incomplete gamma function;  "
        f"∂y/∂b = {'' if _sign > 0 else '−'}bᵃ⁻¹·e⁻ᵇ/Γ(a)",
        forward=scipy_kernel(_kernel),
        vjp={
            "a": _no_derivative(_name),
            "b": (
                (lambda xp, incoming, a, b: incoming * _density(xp, a, b))
                if _sign > 0
                else (lambda xp, incoming, a, b: -incoming * _density(xp, a, b))
            ),
        },
        promote="same",
        public=lambda input, other: (input, other),
        samples=_pairs,
    )
elementwise(
    "special_zeta(a, b)",
    "y = Σ 1/(k + b)ᵃ over k ≥ 0;  ∂y/∂b = −a·zeta(a + 1, b)",
    forward=scipy_kernel("zeta"),
    vjp={
        "a": _no_derivative("special.zeta"),
        "b": lambda xp, incoming, a, b: -incoming * a * xp.special_zeta(a + 1, b),
    },
    public=lambda input, other: (input, other),
    torch="special.zeta",
    samples=lambda make: [
        make.call(make.constant(make(3, low=1.5, high=4.0)), make(3, low=0.5, high=3.0)),
        make.call(2.0, make(2, low=0.5, high=3.0)),
        make.call(make.constant(make(2, low=1.5, high=4.0)), 2.0),
    ],
)


def mvlgamma(input: Tensor, p: int) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension ``p``."""
    if p < 1:
        raise fail(
            RuntimeError,
            call=f"mvlgamma({describe(input)}, p={p})",
            cause="p has to be greater than or equal to 1",
            fix="pass the number of dimensions",
        )
    if input.dtype.category < dtypes.FLOAT:
        input = input.to(dtypes.get_default_dtype())
    shifts = table["tensor"].public(
        [-j / 2 for j in range(p)], dtype=input.dtype, device=input.device
    )
    each = (input.unsqueeze(-1) + shifts.to(input.device)).lgamma()
    return each.sum(-1) + p * (p - 1) / 4 * math.log(math.pi)


composite(
    mvlgamma,
    "y = p(p − 1)/4·log π + Σ log Γ(x − j/2), j < p",
    inplace=True,
    samples=lambda make: [
        make.call(make(3, 4, low=1.5, high=4.0), 3),
        make.call(make(low=1.0), p=1),
    ],
)
