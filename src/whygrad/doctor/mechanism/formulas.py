"""Losses that were written by hand: logs of probabilities, and exponentials that a log undoes.

On paper log(softmax(x)) and log(1 + exp(x)) are harmless.  In float32 a probability rounds to
exactly 0 or 1 as soon as the model is sure, and exp overflows at 88.7.
"""

from __future__ import annotations

import numpy as np

from whygrad.doctor.forensics import FirstBad
from whygrad.doctor.mechanism.shared import QUOTIENTS, Array, Mechanism, descendants
from whygrad.doctor.recording.calls import Produced
from whygrad.doctor.replay import Trace, Traced
from whygrad.doctor.vocabulary import LOSSES, RESHAPING

__all__ = ["in_exponential", "in_log"]

# What probabilities pass through on the way to a log without becoming something else.
_ARRANGING = RESHAPING | frozenset(
    (
        "getitem", "gather", "slice", "select", "index", "index_select", "take_along_dim", "sum",
        "diagonal", "mul", "add", "sub", "rsub", "stack", "cat", "prod", "max", "amax", "amin",
        "min", "unbind", "split", "chunk", "masked_select", "mean",
    )
)  # fmt: skip
_PROBABILITIES = frozenset(("softmax", "sigmoid", "sigmoid_", "exp"))
# Losses that take probabilities: what comes before them is a part of the loss.
_OF_PROBABILITIES = frozenset(("nll_loss", "binary_cross_entropy", "kl_div"))
_ENDS = {"float16": 11.09, "float64": 709.78}  # where exp overflows; 88.72 for float32 and bfloat16
_STEEP = 1e-30  # 1/x of less leaves float32 when it is multiplied on


def in_log(trace: Trace, call: Traced, bad: FirstBad, values: list[Array]) -> Mechanism | None:
    """A log of what is not positive, and whether that is a probability that has rounded."""
    base = values[-1] if call.op == "xlogy" else values[0]
    if call.op in ("logit", "atanh", "erfinv"):
        outside = int(((base <= (0 if call.op == "logit" else -1)) | (base >= 1)).sum())
        text = f"{call.op}: {outside} of {base.size} values are at or beyond its limits"
        return Mechanism("nan-from-log", bad, call.where, text) if outside else None
    edge = -1.0 if call.op == "log1p" else 0.0
    below, at = int((base < edge).sum()), int((base == edge).sum())
    lowest = float(base.min(initial=np.inf))
    if below:
        text = f"{call.op}: {below} of {base.size} values are below {edge:g} (lowest {lowest:.4g})"
    elif at:
        text = f"{call.op}: {at} of {base.size} values are exactly {edge:g}"
    elif bad.kind == "backward" and lowest - edge < _STEEP:
        text = f"{call.op}: its slope overflows at {lowest:.3g}"
    else:
        return None
    rounded = None if below else _rounded(trace, call)
    if rounded is None:
        return Mechanism("nan-from-log", bad, call.where, text)
    origin, name = rounded
    text += f", because {name} has rounded to 0 or 1 there ({origin.after[0]})"
    places = [(f"{name} here", origin.where)]
    return Mechanism("unstable-loss", bad, call.where, text, places, f"log({name})")


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
            certain = call.op != "exp" and output.high >= 1.0
            if not certain and _is_masked(trace, call):
                continue
            if output.zeros or certain or not output.finite or output.low < _STEEP:
                return call, name or call.op.rstrip("_")
        elif call.op in _ARRANGING:
            waiting += [(each, name) for each in before]
        elif call.op in QUOTIENTS and _has_exp(trace, call):
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
        while made is not None and made.op in (*RESHAPING, "sum", "add", "radd"):
            made = next((each for one in made.sources if (each := trace.made_by(one))), None)
        if made is not None and made.op == "exp":
            return True
    return False


def _has_exp(trace: Trace, quotient: Traced) -> bool:
    numbers = trace.ancestors(quotient)
    return any(each.op == "exp" for each in trace.calls if each.number in numbers)


def in_exponential(
    trace: Trace, call: Traced, bad: FirstBad, values: list[Array]
) -> Mechanism | None:
    """An exponential that overflows, and whether it belongs to a loss by hand or to the model."""
    both_ways = call.op in ("sinh", "cosh")
    given = values[-1] if call.op == "pow" else values[0]
    high = float((np.abs(given) if both_ways else given).max(initial=0.0))
    dtype = call.before[0].dtype
    end = _ENDS.get(dtype, 88.72)
    if call.op not in ("exp2", "rpow", "pow") and high < 0.4 * end:
        return None
    made = max((each.largest for each in call.after if each.size), default=np.nan)
    text = f"{call.op} of {high:.4g} overflows {dtype}, which ends at exp({end:.4g})"
    if high < end:
        text = f"{call.op} of {high:.4g} is {made:.3g}: what is computed from it overflows {dtype}"
    by_hand = _formula_of_loss(trace, call)
    if by_hand is None:
        return Mechanism("overflow-in-exp", bad, call.where, text)
    return Mechanism("unstable-loss", bad, call.where, f"{text}, in {by_hand}", [], by_hand)


def _formula_of_loss(trace: Trace, exp: Traced) -> str | None:
    """The formula of a loss that an exp is a part of; None if it belongs to the model."""
    later = descendants(trace, exp)
    parameters = list(trace.parameters.values())
    if any(given is each for call in later for given in call.inputs for each in parameters):
        return None
    ops = {call.op for call in later}
    if ops & (LOSSES - _OF_PROBABILITIES) or ops & {"pow", "abs"}:
        return None  # a regression on what the exp gives: it is an activation
    sums = [call for call in later if call.op in ("sum", "logsumexp")]
    if any(_is_normalised(trace, exp, call, sums) for call in later):
        return "exp / sum of exp"
    if any(call.op == "log" and _comes_from(trace, call, "sum") for call in later):
        return "log(sum of exp)"
    undone = ops & {"log", "log1p"} and not _in_model(trace, exp)
    return "log(1 + exp)" if undone else None


def _is_normalised(trace: Trace, exp: Traced, call: Traced, sums: list[Traced]) -> bool:
    """Whether a call divides the exp by its sum."""
    if call.op != "div" or len(call.sources) < 2:
        return False
    above, below = (trace.made_by(each) for each in call.sources[:2])
    if above is None or below is None or not trace.descends(above, exp):
        return False
    numbers = trace.ancestors(below) | {below.number}
    return any(each.number in numbers for each in sums)


def _comes_from(trace: Trace, call: Traced, op: str) -> bool:
    made = trace.made_by(call.sources[0]) if call.sources else None
    while made is not None and made.op in RESHAPING and made.sources:
        made = trace.made_by(made.sources[0])
    return made is not None and made.op == op


def _in_model(trace: Trace, call: Traced) -> bool:
    """Whether a call was made in the forward of a module with parameters."""
    return any(
        mark.before <= call.number < mark.after and next(mark.module.parameters(), None) is not None
        for mark in trace.marks()
    )
