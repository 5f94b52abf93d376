"""Numbers as explanations print them, and as JSON can hold them."""

from __future__ import annotations

from math import isfinite, log10
from typing import Any

import numpy as np

from whygrad.why.contributions import norm_of

__all__ = ["counted", "described", "json_count", "json_number", "percent", "short"]

_READABLE = 10**15
_EXACT_IN_JSON = 2**53  # beyond it, readers that know only doubles would round


def short(number: Any) -> str:
    """Four digits; no minus in front of a zero."""
    if isinstance(number, complex):
        return f"{number:.4g}"
    return f"{float(number) + 0.0:.4g}"


def percent(share: float | None) -> str:
    """``62.1%``; a dash where there is no total to have a share of."""
    if share is None:
        return "–"
    return f"{share:.1%}" if abs(share) < 100 else f"{100 * share:.2g}%"


def counted(count: int, noun: str) -> str:
    """``1 path``, ``2,048 paths``, ``1.153e+18 paths``: Python does not spell out huge integers."""
    if count < _READABLE:
        return f"{count:,} {noun}{'' if count == 1 else 's'}"
    power = log10(count)
    return f"{10 ** (power % 1):.4g}e+{int(power)} {noun}s"


def described(gradient: Any) -> str:
    """A number as such, an array by shape and norm."""
    if np.size(gradient) == 1:
        return short(np.asarray(gradient).item())
    return f"shape {np.shape(gradient)}, norm {short(norm_of(gradient))}"


def json_number(number: Any) -> Any:
    """A float, or the name of one that JSON does not know."""
    if number is None:
        return None
    if isinstance(number, complex):
        return [json_number(number.real), json_number(number.imag)]
    number = float(number)
    return number if isfinite(number) else str(number)


def json_count(count: int) -> int | str:
    """An integer; as text where it is too large for most readers (or for Python to spell out)."""
    if count < _EXACT_IN_JSON:
        return count
    return str(count) if count < 10**4000 else counted(count, "path").split()[0]
