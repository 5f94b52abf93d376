"""Which rule a first bad value belongs to.

A log of what is not positive, a quotient by zero, a root at zero are faults of the line that
computes them: whatever the learning rate is, the model can produce such a value.  An overflow in a
product is not: something made the numbers grow, and rules about growth have to say what.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whygrad.doctor.forensics import FirstBad
from whygrad.doctor.mechanism.branches import selection
from whygrad.doctor.mechanism.domains import Mechanism, outside_of_domain, rule_of
from whygrad.doctor.mechanism.formulas import in_exponential, in_log
from whygrad.doctor.mechanism.overflow import exploded, inflater, overflows_in_half
from whygrad.ops.families import EXPONENTIALS, LOGS, POISSON_NLL_LOSS, POWERS
from whygrad.recording.replay import Trace, Traced

if TYPE_CHECKING:
    from whygrad.doctor.evidence.case import Case

__all__ = ["find_mechanism"]


def find_mechanism(case: Case, bad: FirstBad) -> Mechanism | None:
    """What is to blame; None when the values had exploded before, or when it is not known."""
    if bad.kind == "data":
        return _of_data(bad)
    if bad.kind == "outside":
        return _of_stray(bad)
    half = overflows_in_half(case, bad)
    if half is not None:
        return half
    if bad.kind == "parameter" or bad.call is None or bad.trace is None:
        return _of_update(case, bad)
    call, trace = bad.call, bad.trace
    found = _of_call(trace, call, bad)
    if found is None and not any(each.requires_grad for each in call.outputs if _differs(each)):
        return _of_data(bad)
    if found is None:
        culprit = inflater(trace, call)
        found = None if culprit is None else _of_call(trace, culprit, bad)
    if found is None or (found.rule == "overflow-in-exp" and exploded(case, bad)):
        return None
    chosen = selection(trace, call) if bad.kind == "backward" else None
    if chosen is None:
        return found
    return Mechanism(
        "nan-from-where",
        bad,
        chosen.where,
        f"{found.because}; {chosen.op} leaves that out, and backward() multiplies the zero which"
        " arrives there by a slope that is not finite",
        [(f"{call.op} of the branch that is not taken", call.where)],
    )


def _of_call(trace: Trace, call: Traced, bad: FirstBad) -> Mechanism | None:
    if call.op in LOGS:
        return in_log(trace, call, bad)
    if call.op in EXPONENTIALS or _exponentiates(call):
        return in_exponential(trace, call, bad)
    found = outside_of_domain(trace, call, bad)
    return None if found is None else Mechanism(found[0], bad, call.where, found[1])


def _exponentiates(call: Traced) -> bool:
    """``torch.pow(2.0, x)``, or a loss that takes the exp of what it is given."""
    if call.op in POISSON_NLL_LOSS:
        return bool(call.argument(2, "log_input", True))
    return call.op in POWERS and bool(call.args) and isinstance(call.args[0], (int, float))


def _of_data(bad: FirstBad) -> Mechanism:
    values = bad.after
    count = "values" if values is None else f"{values.unsound} of {values.size} values"
    shape = "" if values is None else f" in a tensor {list(values.shape)}"
    text = f"{count}{shape} are not finite before the model has computed anything"
    places = [] if bad.call is None else [("first used here", bad.call.where)]
    return Mechanism("non-finite-data", bad, bad.where, text, places)


def _of_stray(bad: FirstBad) -> Mechanism | None:
    """A call that no gradient flows through: what went in is known from when it happened."""
    rule = rule_of(bad.op)
    if rule is None or bad.after is None:
        return None
    given = "; ".join(str(each) for each in bad.before)
    text = f"{bad.op} got {given} and made {bad.after.unsound} values that are not finite"
    return Mechanism(rule, bad, bad.where, text)


def _of_update(case: Case, bad: FirstBad) -> Mechanism | None:
    """A parameter that never was sound, or an optimizer that divides by nothing."""
    leaves = {} if bad.trace is None else bad.trace.parameters
    name = next((name for name, each in leaves.items() if each is bad.given), 0)
    parameter = case.run.parameters.get(name)
    if parameter is not None and parameter.initial is not None and not parameter.initial.finite:
        text = f"{parameter.name} was not finite before the first update: {parameter.initial}"
        where = parameter.written_at or parameter.made_at or bad.where
        return Mechanism("non-finite-data", bad, where, text)
    for course in case.courses:
        made_at = course.optimizer.made_at
        if course.optimizer.options.get("eps") == 0 and made_at is not None:
            text = f"{course.optimizer.kind} divides by the size of past gradients with eps=0: 0/0"
            return Mechanism("nan-from-division", bad, made_at, text)
    return None


def _differs(output: object) -> bool:
    return hasattr(output, "requires_grad")
