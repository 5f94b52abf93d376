"""Where a call was given what it cannot take: the rule, and one sentence with the numbers.

What an op cannot compute stands on its row of the op table; counted here is how much of it a call
was given.  What is no matter of single elements (a mean of nothing, a row that is masked
throughout) is told apart by hand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from whygrad.doctor.forensics import FirstBad
from whygrad.ops import families as ops
from whygrad.ops.spellings import row_of, spelled
from whygrad.ops.undefined import Known, Undefined
from whygrad.recording.ranges import Array
from whygrad.recording.replay import Trace, Traced
from whygrad.source import Where

__all__ = [
    "Array", "Mechanism", "Outside", "known_values", "outside_of_domain", "rule_of", "singular",
    "undefined_there",
]  # fmt: skip

_RULES = {
    "log": "nan-from-log",
    "division": "nan-from-division",
    "root": "nan-from-sqrt",
    "overflow": "overflow-in-exp",
}
_TINY = 1e-18  # divisors below are zero for all purposes: their square is not a float32 any more
_HUGE = 1e18  # the square of such values is no float32 either


@dataclass(eq=False)
class Mechanism:
    """The rule that a first bad value belongs to, and what shows it."""

    rule: str
    bad: FirstBad
    where: Where
    because: str  # one sentence with the numbers
    places: list[tuple[str, Where]] = field(default_factory=list)
    by_hand: str | None = None  # "log(softmax)", "log(sigmoid)", "exp / sum of exp", …


class Outside(NamedTuple):
    """A case of the op's row that speaks for some elements of a call."""

    case: Undefined
    sentence: str


def rule_of(op: str) -> str | None:
    """The rule about what an op cannot compute; None if it can compute everything."""
    row = row_of(op)
    faults = [each.fault for each in row.undefined if each.fault] if row is not None else []
    return _RULES[faults[0]] if faults else None


def known_values(trace: Trace, call: Traced) -> Known:
    """What a call was given, by the names of its op's arguments, and the result as y."""
    row, known = row_of(call.op), Known()
    if row is None or not call.outputs:
        return known
    arguments: list[Any] = []
    for each in (*call.args, *call.kwargs.values()):
        if isinstance(each, trace.engine.tensor):
            arguments.append(trace.array(each).astype(np.float64))
        elif isinstance(each, (int, float)):
            arguments.append(np.asarray(each, dtype=np.float64))
    if spelled(call.op).reflected:
        arguments.reverse()
    known.update(zip(row.tensor_names, arguments, strict=False))
    known["y"] = trace.array(call.outputs[0])
    return known


def undefined_there(call: Traced, known: Known) -> Outside | None:
    """The first case of the op's row that speaks for what a call was given."""
    row = row_of(call.op)
    cases = [each for each in row.undefined if each.counted] if row is not None else []
    for case in cases:
        alike = [each for each in cases if each.counted == case.counted]
        there = np.logical_or.reduce([np.asarray(each.where(known)) for each in alike])
        if there.any():
            lowest = f"{float(np.min(known[case.operand])):.4g}"
            told = f"{int(there.sum())} of {there.size} {case.counted.format(lowest=lowest)}"
            return Outside(case, f"{_named(call, known)}{told}")
    return None


def _named(call: Traced, known: Known) -> str:
    if call.op in ops.QUOTIENTS:
        return ""
    if call.op in ops.POWERS:
        power = known["b"]
        exponent = f"{float(power):g}" if np.ndim(power) == 0 else "from a tensor"
        return f"{call.op} with exponent {exponent}: "
    return f"{call.op}: "


def singular(trace: Trace, call: Traced) -> Array | None:
    """Where the value or the slope of an elementwise call is not finite."""
    known, row = known_values(trace, call), row_of(call.op)
    unsound: Array = ~np.isfinite(trace.array(call.outputs[0]))
    cases = [each for each in row.undefined if each.fault] if row is not None else []
    for each in cases:
        there = np.asarray(each.where(known))
        unsound = np.logical_or(*np.broadcast_arrays(unsound, there))
    return unsound if unsound.any() else None


def outside_of_domain(trace: Trace, call: Traced, bad: FirstBad) -> tuple[str, str] | None:
    """The rule and the sentence for a call that was given what it cannot take."""
    values = [trace.array(each).astype(np.float64) for each in call.inputs]
    if call.op in ops.MEAN or (call.op in ops.SPREADS and bad.kind == "forward"):
        return _from("division", _of_average(call))
    if call.op in ops.SOFTMAXES | ops.ATTENTION:
        return _from("division", _of_softmax(call, values))
    if call.op in ops.LOSSES:
        return _from("division", _of_empty_loss(call, values))
    if call.op in ops.MUL | ops.SHIFTS:
        sentence = _of_masked(call, values)
        return None if sentence is None else ("nan-from-where", sentence)
    known = known_values(trace, call)
    outside = undefined_there(call, known)
    if call.op in ops.QUOTIENTS:
        return _from("division", _of_quotient(known, outside))
    return None if outside is None else _from(outside.case.fault, outside.sentence)


def _from(fault: str | None, sentence: str | None) -> tuple[str, str] | None:
    return None if sentence is None or fault is None else (_RULES[fault], sentence)


def _of_average(call: Traced) -> str | None:
    given = call.before[0]
    if given.size == 0:
        return f"{call.op} of no values at all is 0/0: its input has shape {list(given.shape)}"
    if call.op in ops.MEAN or given.largest > _HUGE:
        return None
    return f"{call.op} of one value divides by n − 1 = 0: its input has shape {list(given.shape)}"


def _of_quotient(known: Known, outside: Outside | None) -> str | None:
    """Also divisors that are so small that they might as well be 0."""
    divisors = "b" if "b" in known else "x"
    above, below = np.asarray(known.get("a", 1.0)), np.asarray(known[divisors])
    if outside is not None:
        both = " (0/0 in places)" if (above == 0).any() else ""
        return f"{outside.sentence}{both}"
    smallest = float(np.abs(below).min(initial=1.0))
    largest = float(np.abs(above).max(initial=0.0))
    if smallest < _TINY and largest * smallest < 1.0:
        return f"the smallest of {below.size} divisors is {smallest:.3g}"
    return None


def _of_softmax(call: Traced, values: list[Array]) -> str | None:
    if call.op in ops.ATTENTION:
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
    if call.op in ops.CLASS_LOSSES and len(values) > 1:
        ignored = call.argument(3, "ignore_index", -100)
        if (values[1] == ignored).all():
            return f"every label is {ignored}, which is ignored: the mean is over no values at all"
    return None


def _of_masked(call: Traced, values: list[Array]) -> str | None:
    infinite = any(np.isinf(each).any() for each in values) or any(
        isinstance(each, float) and np.isinf(each) for each in call.args
    )
    if not infinite:
        return None
    if call.op in ops.MUL:
        return "0 × inf is NaN: multiplying by a mask does not remove an infinite value"
    return "inf − inf is NaN: values that were masked with -inf meet each other"
