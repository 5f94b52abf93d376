"""Where ops have no finite value, or no finite slope: one sentence each, with the numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.doctor.forensics import FirstBad
from whygrad.doctor.mechanism.shared import QUOTIENTS, Array
from whygrad.doctor.replay import Traced
from whygrad.doctor.vocabulary import LOSSES

__all__ = ["outside_of_domain"]

_ROOTS = frozenset(
    ("sqrt", "rsqrt", "norm", "std", "var", "cdist", "dist", "acos", "asin", "hypot")
)
_SPREADS = frozenset(("std", "var", "std_mean", "var_mean"))
_SOFTMAXES = frozenset(("softmax", "log_softmax", "scaled_dot_product_attention"))
_TINY = 1e-18  # divisors below are zero for all purposes: their square is not a float32 any more


def outside_of_domain(call: Traced, bad: FirstBad, values: list[Array]) -> tuple[str, str] | None:
    """The rule and the sentence for a call that was given what it cannot take."""
    op = call.op.rstrip("_")
    if op == "pow":
        return _of_power(call, values)
    if op == "mean" or (op in _SPREADS and bad.kind == "forward"):
        return _named("nan-from-division", _of_average(call))
    if op in _ROOTS:
        return _named("nan-from-sqrt", _of_root(op, call, bad, values))
    if op in QUOTIENTS:
        return _named("nan-from-division", _of_quotient(call, values))
    if op in _SOFTMAXES:
        return _named("nan-from-division", _of_softmax(call, values))
    if op in LOSSES:
        return _named("nan-from-division", _of_empty_loss(call, values))
    if op in ("mul", "add", "sub", "rsub"):
        return _named("nan-from-where", _of_masked(op, call, values))
    return None


def _named(rule: str, sentence: str | None) -> tuple[str, str] | None:
    return None if sentence is None else (rule, sentence)


def _of_power(call: Traced, values: list[Array]) -> tuple[str, str] | None:
    exponent = call.argument(1, "exponent", 2)
    power = values[1] if len(values) > 1 else np.asarray(exponent, dtype=np.float64)
    base = values[0]
    fractional = bool((power != np.round(power)).any())
    negative, zero = int((base < 0).sum()), int((base == 0).sum())
    name = f"pow with exponent {_short(exponent)}"
    if fractional and negative:
        lowest = f"{negative} of {base.size} values are negative (lowest {base.min():.4g})"
        return "nan-from-sqrt", f"{name}: {lowest}"
    if zero and (power < 0).any() and not fractional:
        return "nan-from-division", f"{name}: {zero} of {base.size} values are 0"
    if zero and (power < 1).any():
        steep = f"{zero} of {base.size} values are exactly 0, where its slope is infinite"
        return "nan-from-sqrt", f"{name}: {steep}"
    return None


def _of_average(call: Traced) -> str | None:
    given = call.before[0]
    if given.size == 0:
        return f"{call.op} of no values at all is 0/0: its input has shape {list(given.shape)}"
    if call.op == "mean" or given.largest > 1e18:
        return None
    return f"{call.op} of one value divides by n − 1 = 0: its input has shape {list(given.shape)}"


def _of_root(op: str, call: Traced, bad: FirstBad, values: list[Array]) -> str | None:
    base = values[0]
    if op in ("acos", "asin"):
        beyond = int((np.abs(base) >= 1).sum())
        return f"{op}: {beyond} of {base.size} values are at or beyond ±1" if beyond else None
    if op in ("sqrt", "rsqrt"):
        negative, zero = int((base < 0).sum()), int((base == 0).sum())
        if negative:
            text = f"{negative} of {base.size} values are negative (lowest {base.min():.4g})"
            return f"{op}: {text}"
        what = "value" if op == "rsqrt" else "slope, 1/(2·sqrt(x)),"
        text = f"{zero} of {base.size} values are exactly 0, where its {what} is infinite"
        return f"{op}: {text}" if zero else None
    if bad.kind != "backward" or call.before[0].largest > 1e18:
        return None
    if op in _SPREADS:
        return f"{op} is 0: all its values are equal, and the slope of the root at 0 is infinite"
    return f"{op} is 0 in places, where its slope is infinite"


def _of_quotient(call: Traced, values: list[Array]) -> str | None:
    above, below = _parts(call, values)
    zero = int((below == 0).sum())
    if zero:
        both = " (0/0 in places)" if (above == 0).any() else ""
        return f"{zero} of {below.size} divisors are exactly 0{both}"
    smallest = float(np.abs(below).min(initial=1.0))
    largest = float(np.abs(above).max(initial=0.0))
    if smallest < _TINY and largest * smallest < 1.0:
        return f"the smallest of {below.size} divisors is {smallest:.3g}"
    return None


def _parts(call: Traced, values: list[Array]) -> tuple[Array, Array]:
    """What is divided, and by what."""
    if len(values) > 1:
        return values[0], values[1]
    if call.op == "rdiv":
        return np.asarray(call.argument(1, "other", 1.0), dtype=np.float64), values[0]
    if isinstance(call.args[0], (int, float)):
        return np.asarray(call.args[0], dtype=np.float64), values[0]
    return values[0], np.asarray(call.argument(1, "other", 1.0), dtype=np.float64)


def _of_softmax(call: Traced, values: list[Array]) -> str | None:
    if call.op == "scaled_dot_product_attention":
        return "a query may look at no key at all: its row of the mask is -inf throughout"
    masked = np.isneginf(values[0])
    if not masked.any():
        return None
    dim = call.argument(1, "dim", -1)
    axis = dim[0] if isinstance(dim, tuple) else dim
    rows = int(masked.all(axis=axis if isinstance(axis, int) else -1).sum())
    return f"{rows} rows of the softmax are -inf throughout, and 0/0 is NaN" if rows else None


def _of_empty_loss(call: Traced, values: list[Array]) -> str | None:
    if any(each.size == 0 for each in values):
        return f"{call.op} averages over no values at all: the batch is empty"
    if call.op in ("cross_entropy", "nll_loss") and len(values) > 1:
        ignored = call.argument(3, "ignore_index", -100)
        if (values[1] == ignored).all():
            return f"every label is {ignored}, which is ignored: the mean is over no values at all"
    return None


def _of_masked(op: str, call: Traced, values: list[Array]) -> str | None:
    infinite = any(np.isinf(each).any() for each in values) or any(
        isinstance(each, float) and np.isinf(each) for each in call.args
    )
    if not infinite:
        return None
    if op == "mul":
        return "0 × inf is NaN: multiplying by a mask does not remove an infinite value"
    return "inf − inf is NaN: values that were masked with -inf meet each other"


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, (int, float)) else "from a tensor"
