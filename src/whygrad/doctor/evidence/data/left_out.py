"""A class that the loss leaves out, as if it was padding.

``ignore_index`` is meant for places without an answer.  If its number is that of a class, that
class is never learned.  Whether it is one, the loss does not tell; what stands at these places
does.  Padding is one token, or a few marks at the ends of a sequence.
"""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.flow import follow
from whygrad.doctor.source.reader import source_of, walked
from whygrad.ops import families as ops
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.reading import Reading
from whygrad.source import Where

__all__ = ["LeftOut", "left_out"]

_MARKS = 4  # different tokens at most that stand for no word: padding, begin, end, separator
# How programs call what has no label; a convolution's padding= is something else.
_MISSING = re.compile(
    r"(?i:void|unlabel|missing|no_?data|unknown|ignored)|\b(?i:pad)(?!ding\b)|_PAD"
)
_PICTURE = 4  # axes of scores that have two in space


class LeftOut(NamedTuple):
    """A class without a share in the loss."""

    call: Traced
    number: int
    share: float  # of the labels
    said: str  # why it is one
    counted: Where  # where it counts as an answer


def left_out(case: Case, reading: Reading | None) -> LeftOut | None:
    """The class that a loss leaves out, if it is one and the program judges it all the same."""
    for call in [] if reading is None else reading.losses:
        number = call.kwargs.get("ignore_index", -1)
        if call.op not in ops.CLASS_LOSSES or len(call.inputs) < 2 or call.inputs[0].ndim < 2:
            continue
        if reading is None or not 0 <= number < call.inputs[0].shape[1]:
            continue
        ignored = reading.trace.array(call.inputs[1]) == number
        said = _why_a_class(reading.trace, call, ignored) if ignored.any() else None
        counted = _counted(case, number)
        if said is not None and counted is not None:
            return LeftOut(call, number, float(ignored.mean()), said, counted)
    return None


def _why_a_class(trace: Trace, call: Traced, ignored: Any) -> str | None:
    """What is found at the places that are left out, if that is no padding."""
    lookups = [each for each in trace.calls if each.op in ops.EMBEDDING and len(each.inputs) > 1]
    pairs = [sorted(each.inputs[:2], key=lambda one: one.is_floating_point()) for each in lookups]
    if any(table.shape[0] == call.inputs[0].shape[1] for _, table in pairs):
        return None  # the classes are the words
    aligned = [trace.array(tokens).ravel() for tokens, _ in pairs if tokens.numel() == ignored.size]
    if aligned:
        kinds = len(np.unique(aligned[0][ignored.ravel()]))
        return f"{kinds} different tokens stand at these places" if kinds > _MARKS else None
    reshaped = [step for step, *_ in follow(trace, call.sources[0]).passed
                if step.op in ops.RESHAPES | ops.FLATTENING]  # fmt: skip
    whole = call.inputs[0].ndim >= _PICTURE or (call.inputs[0].ndim == 2 and not reshaped)
    if not whole or _asks_for(call.where, call.kwargs["ignore_index"]):
        return None
    kind = "pixel" if call.inputs[0].ndim >= _PICTURE else "sample"
    return f"nothing in the program asks for {kind}s without a label, and these have one"


def _asks_for(where: Where, number: int) -> bool:
    """Whether the program compares with this number, or speaks of places without a label."""
    if _MISSING.search(source_of(where).text):
        return True
    for each in source_of(where).nodes(ast.Compare):
        for one in (each.left, *each.comparators):
            if isinstance(one, ast.Constant) and one.value == number and type(one.value) is int:
                return True
            if any(name.id.isupper() for name in walked(one, ast.Name)):
                return True  # a constant: PAD, VOID
    return False


def _counted(case: Case, number: int) -> Where | None:
    """A line that compares answers with labels of which some have this number."""
    for looks in case.run.judged.values():
        for look in looks:
            if look.kind == "equal" and any(each.shares.get(float(number)) for each in look.sides):
                return look.where
    for each in case.run.comparisons:
        ends = [(it.range.low, it.range.high) for it in each.sides if it.steps is None]
        if each.op in ops.EQUALITIES and len(each.sides) == 2 and number in sum(ends, ()):
            return each.where
    return None
