"""Orthogonal polynomials, by their recurrences.

``n`` may differ per element: the recurrence runs to the largest and each element takes its own.
PyTorch has them without a derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from whygrad.ops.define import elementwise

Array = Any
# From x to the polynomial of degree 1.
First = Callable[[Array], Array]
# From k, x and the polynomials of degree k and k − 1 to the one of degree k + 1.
Next = Callable[[int, Array, Array, Array], Array]


def _evaluate(first: First, following: Next, shifted: bool) -> Callable[[Array, Array], Array]:
    def kernel(x: Array, n: Array) -> Array:
        dtype = next(each.dtype for each in (x, n) if hasattr(each, "dtype"))
        places, degree = np.broadcast_arrays(np.asarray(x, dtype), np.trunc(np.asarray(n, dtype)))
        places = 2 * places - 1 if shifted else places
        before, current = np.ones_like(places), first(places).astype(dtype)
        result = np.where(degree == 0, before, np.where(degree == 1, current, 0)).astype(dtype)
        for k in range(1, int(degree.max(initial=0))):
            before, current = current, following(k, places, current, before)
            result = np.where(degree == k + 1, current, result)
        return result

    return kernel


def _chebyshev(k: int, x: Array, current: Array, before: Array) -> Array:
    return 2 * x * current - before


_FAMILIES: tuple[tuple[str, First, Next], ...] = (
    ("chebyshev_polynomial_t", lambda x: x, _chebyshev),
    ("chebyshev_polynomial_u", lambda x: 2 * x, _chebyshev),
    ("chebyshev_polynomial_v", lambda x: 2 * x - 1, _chebyshev),
    ("chebyshev_polynomial_w", lambda x: 2 * x + 1, _chebyshev),
    ("hermite_polynomial_h", lambda x: 2 * x, lambda k, x, p, q: 2 * x * p - 2 * k * q),
    ("hermite_polynomial_he", lambda x: x, lambda k, x, p, q: x * p - k * q),
    (
        "laguerre_polynomial_l",
        lambda x: 1 - x,
        lambda k, x, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1),
    ),
    (
        "legendre_polynomial_p",
        lambda x: x,
        lambda k, x, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1),
    ),
)

for _name, _first, _next in _FAMILIES:
    for _shifted in (False, True) if _name.startswith("chebyshev") else (False,):
        _full = f"shifted_{_name}" if _shifted else _name
        elementwise(
            f"special_{_full}(x, n)",
            f"y = the polynomial of degree n at x ({_full.replace('_', ' ')});  no gradient",
            forward=_evaluate(_first, _next, _shifted),
            vjp=None,
            torch=f"special.{_full}",
            public=lambda input, n: (input, n),
            samples=lambda make: [
                make.call(make.constant(make(3, 4, low=0.1, high=0.9)), make.ints(4)),
                make.call(make.constant(make(3, low=0.1, high=0.9)), 3),
            ],
        )
