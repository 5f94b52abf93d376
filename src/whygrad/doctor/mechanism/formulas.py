"""Losses that were written by hand: logs of probabilities, and exponentials that a log undoes.

On paper log(softmax(x)) and log(1 + exp(x)) are harmless.  In float32 a probability rounds to
exactly 0 or 1 as soon as the model is sure, and exp overflows at 88.7.
"""

from __future__ import annotations

import numpy as np

from whygrad.doctor.forensics import FirstBad
from whygrad.doctor.mechanism.domains import Mechanism, known_values, undefined_there
from whygrad.ops import families as ops
from whygrad.ops.spellings import row_of
from whygrad.recording.calls import Produced
from whygrad.recording.replay import Trace, Traced

__all__ = ["in_exponential", "in_log"]

# What probabilities pass through on the way to a log without becoming something else.
_ARRANGING = (
    ops.RESHAPING | ops.PICKS | ops.SPLITS | ops.JOINS | ops.TOTALS | ops.EXTREMES | ops.PROD
    | ops.MUL | ops.SHIFTS
)  # fmt: skip
_PROBABILITIES = ops.SOFTMAX | ops.SIGMOID | ops.EXP
# A regression on what an exp gives: it is an activation.  A loss of probabilities is no such.
_ACTIVATED = (ops.LOSSES - ops.PROBABILITY_LOSSES) | ops.POWERS | ops.ABS
_OTHER_BASES = ops.EXP2 | ops.POWERS | ops.REVERSED_POW
_ENDS = {"float16": 11.09, "float64": 709.78}  # where exp overflows; 88.72 for float32 and bfloat16
_STEEP = 1e-30  # 1/x of less leaves float32 when it is multiplied on


def in_log(trace: Trace, call: Traced, bad: FirstBad) -> Mechanism | None:
    """A log of what is not positive, and whether that is a probability that has rounded."""
    known = known_values(trace, call)
    outside = undefined_there(call, known)
    lowest = float(np.min(known[_argument(call)], initial=np.inf))
    edge = -1.0 if call.op in ops.LOG1P else 0.0
    rounded = None
    if outside is not None:
        text = outside.sentence
        if lowest == edge and "exactly" in text:
            rounded = _rounded(trace, call)
    elif bad.kind == "backward" and lowest - edge < _STEEP:
        text, rounded = f"{call.op}: its slope overflows at {lowest:.3g}", _rounded(trace, call)
    else:
        return None
    if rounded is None:
        return Mechanism("nan-from-log", bad, call.where, text)
    origin, name = rounded
    text += f", because {name} has rounded to 0 or 1 there ({origin.after[0]})"
    places = [(f"{name} here", origin.where)]
    return Mechanism("unstable-loss", bad, call.where, text, places, f"log({name})")


def _argument(call: Traced) -> str:
    row = row_of(call.op)
    assert row is not None
    return row.undefined[0].operand


def _rounded(trace: Trace, log: Traced) -> tuple[Traced, str] | None:
    """The softmax, sigmoid or exp that a log undoes, if that is where its zero comes from."""
    waiting = [(source, "") for source in log.sources if source is not None]
    seen: set[Produced] = set()
    while waiting:
        source, name = waiting.pop()
        call = trace.made_by(source)
        if call is None or source in seen:
            continue
        seen.add(source)
        before = [each for each in call.sources if each is not None]
        if call.op in _PROBABILITIES:
            output = call.after[source.place]
            certain = call.op not in ops.EXP and output.high >= 1.0
            if not certain and _is_masked(trace, call):
                continue
            if output.zeros or certain or not output.finite or output.low < _STEEP:
                return call, name or call.op.rstrip("_")
        elif call.op in _ARRANGING:
            waiting += [(each, name) for each in before]
        elif call.op in ops.QUOTIENTS and _has_exp(trace, call):
            by_hand = "softmax" if len(before) > 1 else "sigmoid"
            if call.after[source.place].low < _STEEP and _is_by_hand(trace, call):
                return call, by_hand
            waiting += [(each, by_hand) for each in before]
    return None


def _is_masked(trace: Trace, call: Traced) -> bool:
    """Whether every zero of a softmax is where one and the same huge negative number was put."""
    given = trace.array(call.inputs[0])
    made = trace.array(call.outputs[0])
    if given.shape != made.shape or not (made == 0).any():
        return False
    filled = given[made == 0]
    return bool((filled == filled[0]).all()) and float(filled[0]) < -1e3


def _is_by_hand(trace: Trace, quotient: Traced) -> bool:
    """Whether a quotient is exp(x) / sum, or 1 / (1 + exp(x)), with nothing else in between."""
    for source in quotient.sources:
        made = trace.made_by(source)
        while made is not None and made.op in ops.RESHAPING | ops.SUM | ops.ADD:
            made = next((each for one in made.sources if (each := trace.made_by(one))), None)
        if made is not None and made.op in ops.EXP:
            return True
    return False


def _has_exp(trace: Trace, quotient: Traced) -> bool:
    numbers = trace.ancestors(quotient)
    return any(each.op in ops.EXP for each in trace.calls if each.number in numbers)


def in_exponential(trace: Trace, call: Traced, bad: FirstBad) -> Mechanism | None:
    """An exponential that overflows, and whether it belongs to a loss by hand or to the model."""
    both_ways = call.op in ops.HYPERBOLIC
    given = trace.array(call.inputs[-1 if call.op in ops.POWERS else 0]).astype(np.float64)
    high = float((np.abs(given) if both_ways else given).max(initial=0.0))
    dtype = call.before[0].dtype
    end = _ENDS.get(dtype, 88.72)
    if call.op not in _OTHER_BASES and high < 0.4 * end:
        return None
    made = max((each.largest for each in call.after if each.size), default=np.nan)
    text = f"{call.op} of {high:.4g} overflows {dtype}, which ends at exp({end:.4g})"
    if high < end:
        text = f"{call.op} of {high:.4g} is {made:.3g}: what is computed from it overflows {dtype}"
    by_hand = _formula_of_loss(trace, call)
    if by_hand is None:
        return Mechanism("overflow-in-exp", bad, call.where, text)
    return Mechanism("unstable-loss", bad, call.where, f"{text}, in {by_hand}", [], by_hand)


def _descendants(trace: Trace, call: Traced) -> list[Traced]:
    """The calls that were computed from ``call``, in order."""
    known = {call.number}
    found = []
    for each in trace.calls:
        if any(source is not None and source.call in known for source in each.sources):
            known.add(each.number)
            found.append(each)
    return found


def _formula_of_loss(trace: Trace, exp: Traced) -> str | None:
    """The formula of a loss that an exp is a part of; None if it belongs to the model."""
    later = _descendants(trace, exp)
    parameters = list(trace.parameters.values())
    if any(given is each for call in later for given in call.inputs for each in parameters):
        return None
    present = {call.op for call in later}
    if _ACTIVATED.any_of(present):
        return None  # a regression on what the exp gives: it is an activation
    sums = [call for call in later if call.op in ops.SUM | ops.LOGSUMEXP]
    if any(_is_normalised(trace, exp, call, sums) for call in later):
        return "exp / sum of exp"
    if any(call.op in ops.LOG and _comes_from(trace, call, ops.SUM) for call in later):
        return "log(sum of exp)"
    undone = ops.LOGARITHMS.any_of(present) and not _in_model(trace, exp)
    return "log(1 + exp)" if undone else None


def _is_normalised(trace: Trace, exp: Traced, call: Traced, sums: list[Traced]) -> bool:
    """Whether a call divides the exp by its sum."""
    if call.op not in ops.DIV or len(call.sources) < 2:
        return False
    above, below = (trace.made_by(each) for each in call.sources[:2])
    if above is None or below is None or not trace.descends(above, exp):
        return False
    numbers = trace.ancestors(below) | {below.number}
    return any(each.number in numbers for each in sums)


def _comes_from(trace: Trace, call: Traced, family: ops.Family) -> bool:
    made = trace.made_by(call.sources[0]) if call.sources else None
    while made is not None and made.op in ops.RESHAPING and made.sources:
        made = trace.made_by(made.sources[0])
    return made is not None and made.op in family


def _in_model(trace: Trace, call: Traced) -> bool:
    """Whether a call was made in the forward of a module with parameters."""
    return any(
        mark.before <= call.number < mark.after
        and next(iter(mark.module.parameters()), None) is not None
        for mark in trace.marks()
    )
