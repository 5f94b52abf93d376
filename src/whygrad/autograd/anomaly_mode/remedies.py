"""Why an op gives NaN or Inf at certain points, and what to write instead.

A row says for which numbers it speaks; the first row that fits is told.  Forward rows see the
inputs of the call by name, backward rows the values the node saved.
A name that is not known counts as NaN, for which no comparison holds.  What is known of the call as
a whole has names, too: ``made_nan`` (rather than inf) and ``inf_in`` (among what went in), 1 or 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from whygrad.autograd.anomaly_mode.findings import Finding

__all__ = ["BACKWARD", "FORWARD", "Remedy", "advice"]

Values = dict[str, float]


class Remedy(NamedTuple):
    """Where an op misbehaves, why, and the way around it."""

    applies: Callable[[Any], bool]
    why: str
    fix: str


class _Known(dict[str, float]):
    def __missing__(self, name: str) -> float:
        return math.nan


def _always(_: Values) -> bool:
    return True


def _from_nothing(values: Values) -> bool:
    """NaN although what went in is finite, and not because the numbers are too large."""
    return values["made_nan"] == 1 and values["inf_in"] == 0


_LOG_OF_ZERO = Remedy(
    lambda v: v["x"] == 0,
    "log(0) is −inf",
    "keep the argument positive: log(x.clamp(min=1e-8)); for probabilities use log_softmax of the "
    "scores instead of log(softmax)",
)
_LOG_OF_NEGATIVE = Remedy(
    lambda v: v["x"] < 0,
    "a negative number has no real logarithm",
    "keep the argument positive: log(x.clamp(min=1e-8)), or ask why it is negative",
)
_TOO_LARGE = "use a wider dtype, or scale the numbers down before this op"
_OVERFLOWING_EXP = Remedy(
    lambda v: v["x"] > 0,
    "eˣ is larger than the dtype can hold",
    "subtract the maximum first, as logsumexp and softmax do, or clamp the exponent: "
    "x.clamp(max=80).exp()",
)
_OUT_OF_RANGE = Remedy(
    lambda v: abs(v["x"]) > 1,
    "it is defined between −1 and 1 only",
    "clamp the argument: x.clamp(-1 + 1e-6, 1 - 1e-6)",
)
_NEGATIVE_ROOT = Remedy(
    lambda v: v["x"] < 0,
    "a negative number has no real square root",
    "keep the argument from falling below 0: x.clamp(min=0), or x.relu()",
)
_ZERO_BY_ZERO = Remedy(
    lambda v: v["a"] == 0 and v["b"] == 0,
    "0 / 0 is not a number",
    "keep the divisor away from 0: a / (b + 1e-8), or where(b == 0, 1.0, b)",
)
_BY_ZERO = Remedy(
    lambda v: v["b"] == 0,
    "a division by 0",
    "keep the divisor away from 0: a / b.clamp(min=1e-8), or where(b == 0, 1.0, b)",
)

FORWARD: dict[str, tuple[Remedy, ...]] = {
    "acos": (_OUT_OF_RANGE,),
    "acosh": (
        Remedy(lambda v: v["x"] < 1, "it is defined from 1 upwards only", "use x.clamp(min=1)"),
    ),
    "addcdiv": (_BY_ZERO,),
    "asin": (_OUT_OF_RANGE,),
    "atanh": (_OUT_OF_RANGE, Remedy(_always, "it is infinite at ±1", _OUT_OF_RANGE.fix)),
    "cast": (Remedy(_always, "the number is too large for the new dtype", _TOO_LARGE),),
    "cosh": (_OVERFLOWING_EXP,),
    "cross_entropy": (
        Remedy(
            lambda v: v["inf_in"] == 1,
            "every class of a sample has the score −inf, or one has +inf",
            "leave one class of each sample unmasked, or set ignore_index for such samples",
        ),
        Remedy(
            lambda v: v["made_nan"] == 1,
            "it is the mean of nothing: every target is ignore_index, or all their weights are 0",
            "leave such a batch out, or use reduction='sum'",
        ),
    ),
    "div": (_ZERO_BY_ZERO, _BY_ZERO),
    "exp": (_OVERFLOWING_EXP,),
    "exp2": (_OVERFLOWING_EXP,),
    "expm1": (_OVERFLOWING_EXP,),
    "linalg_slogdet": (
        Remedy(
            lambda v: v["inf_in"] == 0,
            "the determinant of a singular matrix is 0, and log(0) is −inf",
            "add a small multiple of the identity to the matrix",
        ),
    ),
    "log": (_LOG_OF_NEGATIVE, _LOG_OF_ZERO),
    "log10": (_LOG_OF_NEGATIVE, _LOG_OF_ZERO),
    "log1p": (
        Remedy(
            lambda v: v["x"] <= -1,
            "log(1 + x) needs x above −1",
            "keep it there: x.clamp(min=-1 + 1e-6)",
        ),
    ),
    "log2": (_LOG_OF_NEGATIVE, _LOG_OF_ZERO),
    "logit": (
        Remedy(_always, "it is defined between 0 and 1 only", "pass eps: x.logit(eps=1e-6)"),
    ),
    "mean": (Remedy(_from_nothing, "the mean of no elements", "check for an empty tensor first"),),
    "pow": (
        Remedy(
            lambda v: v["a"] == 0 and v["b"] < 0,
            "0 to a negative power is a division by 0",
            "keep the base away from 0: x.clamp(min=1e-8) ** p",
        ),
        Remedy(
            lambda v: v["a"] < 0,
            "a negative number has no real power with a fractional exponent",
            "take the power of x.abs() or of x.clamp(min=0)",
        ),
        Remedy(_always, "the power is larger than the dtype can hold", _TOO_LARGE),
    ),
    "reciprocal": (
        Remedy(lambda v: v["x"] == 0, "a division by 0", "keep it away from 0: 1 / (x + 1e-8)"),
    ),
    "rsqrt": (
        _NEGATIVE_ROOT,
        Remedy(lambda v: v["x"] == 0, "a division by 0", "keep it away from 0: (x + 1e-8).rsqrt()"),
    ),
    "sinh": (_OVERFLOWING_EXP,),
    "softmax": (
        Remedy(
            lambda v: v["x"] == -math.inf,
            "every score of a row is −inf, so there is nothing to share the probability among",
            "leave one entry of each row unmasked, or write a large negative number such as −1e9 "
            "instead of −inf",
        ),
    ),
    "sqrt": (_NEGATIVE_ROOT,),
    "std": (
        Remedy(
            _from_nothing,
            "the spread of a single element, divided by n − 1 = 0",
            "use correction=0, or more than one element",
        ),
    ),
    "xlogy": (
        Remedy(lambda v: v["b"] < 0, _LOG_OF_NEGATIVE.why, "keep b positive: b.clamp(min=1e-8)"),
        Remedy(lambda v: v["b"] == 0, "log(0) is −inf", "keep b positive: b.clamp(min=1e-8)"),
    ),
}
FORWARD["log_softmax"] = FORWARD["softmax"]
FORWARD["var"] = FORWARD["std"]

_STEEP_ROOT = Remedy(
    lambda v: v["y"] == 0,
    "the slope of a square root is infinite at 0",
    "keep the argument away from 0: (x + 1e-12).sqrt(); the length of a vector is x.norm(), whose "
    "gradient at 0 is 0",
)
_STEEP_LOG = Remedy(
    lambda v: v["x"] == 0,
    "the slope of a logarithm is infinite at 0",
    "keep the argument positive: log(x.clamp(min=1e-8))",
)
_STEEP_ENDS = Remedy(
    lambda v: abs(v["x"]) == 1,
    "the slope is infinite at ±1",
    "keep the argument inside: x.clamp(-1 + 1e-6, 1 - 1e-6)",
)
_AT_THE_ORIGIN = Remedy(
    lambda v: v["a"] == 0 and v["b"] == 0,
    "it has no slope at the origin (0, 0)",
    "move the point away from it, for example b + 1e-12",
)

BACKWARD: dict[str, tuple[Remedy, ...]] = {
    "acos": (_STEEP_ENDS,),
    "acosh": (
        Remedy(lambda v: v["x"] == 1, "the slope is infinite at 1", "use x.clamp(min=1 + 1e-6)"),
    ),
    "addcdiv": (_BY_ZERO,),
    "asin": (_STEEP_ENDS,),
    "atanh": (_STEEP_ENDS,),
    "div": (_BY_ZERO,),
    "hypot": (_AT_THE_ORIGIN,),
    "log": (_STEEP_LOG,),
    "log10": (_STEEP_LOG,),
    "log1p": (
        Remedy(lambda v: v["x"] == -1, "the slope is infinite at −1", "use x.clamp(min=-1 + 1e-6)"),
    ),
    "log2": (_STEEP_LOG,),
    "logit": (
        Remedy(
            lambda v: v["x"] in (0, 1),
            "the slope is infinite at 0 and 1",
            "pass eps: x.logit(eps=1e-6)",
        ),
    ),
    "pow": (
        Remedy(
            lambda v: v["a"] == 0 and v["b"] < 1,
            "the slope of x ** p is infinite at 0 for p below 1",
            "keep the base away from 0: (x + 1e-12) ** p",
        ),
        Remedy(
            lambda v: v["a"] < 0,
            "the slope needs the logarithm or a root of a negative base",
            "take the power of x.abs() or of x.clamp(min=1e-8), or detach() the exponent",
        ),
    ),
    "reciprocal": (
        Remedy(
            lambda v: math.isinf(v["y"]), "a division by 0", "keep it away from 0: 1 / (x + 1e-8)"
        ),
    ),
    "rsqrt": (
        Remedy(
            lambda v: math.isinf(v["y"]),
            "a division by 0",
            "keep it away from 0: (x + 1e-8).rsqrt()",
        ),
    ),
    "sqrt": (_STEEP_ROOT,),
    "xlogy": (Remedy(lambda v: v["b"] == 0, _STEEP_LOG.why, "keep b positive: b.clamp(min=1e-8)"),),
}
_DECOMPOSED = Remedy(
    _always,
    "it divides by differences of eigenvalues or singular values, and two of them are equal",
    "break the tie with a little noise on the diagonal, or use a loss that does not need vectors",
)
for _name in ("linalg_eigh", "linalg_svd"):
    BACKWARD[_name] = (_DECOMPOSED,)

_LARGEST = {"float16": 65504.0, "bfloat16": 3.39e38, "float32": 3.40e38, "float64": 1.79e308}


def advice(finding: Finding) -> tuple[str, str]:
    """Why, and what to do about it."""
    if finding.op is None:
        return _about_data(finding)
    dtype = str(finding.dtype)
    largest = f"{_LARGEST.get(dtype, math.inf):.3g}"
    if finding.summed or finding.overflowed:
        return (
            f"the sum or the rounded value is beyond {largest}, the largest {dtype}",
            "scale the loss down, or compute in a wider dtype",
        )
    values = _Known(finding.elements[0].inputs)
    values["made_nan"] = float(finding.kind == "nan")
    values["inf_in"] = float(finding.fed is not None)
    for remedy in (BACKWARD if finding.backward else FORWARD).get(finding.op.name, ()):
        if remedy.applies(values):
            return remedy.why, remedy.fix
    if finding.fed is not None:
        return (
            "inf went in, and inf − inf, 0 · inf and inf / inf are not numbers",
            "keep inf out of this op: write a large finite number instead, or choose with where()",
        )
    if finding.op.kind == "custom":
        return (
            f"{finding.op.name} is your own function, and its "
            f"{'backward' if finding.backward else 'forward'} computed it",
            "look there for a division by 0, a root or a logarithm",
        )
    slope = finding.elements[0].slope
    known = str(finding.op.kind) != "foreign"  # PyTorch's own, of which nothing is known here
    if known and finding.kind == "inf" and (slope is None or math.isfinite(slope)):
        return f"the result is beyond {largest}, the largest {dtype}", _TOO_LARGE
    return (
        "its formula has no finite value there",
        "look at the numbers above, and keep the op away from them",
    )


def _about_data(finding: Finding) -> tuple[str, str]:
    if finding.writer is not None:
        return (
            f"it came from {finding.writer}",
            "write a finite number there, or keep these elements out of the loss with where()",
        )
    return (
        "no op in anomaly mode made it: it was in the data, or computed before the mode was on",
        "check the data with isfinite().all(), or let anomaly mode see the whole forward pass",
    )
