"""Calls that have no finite value, or no finite slope, at a point that the model can reach.

The first call that made a NaN or an Inf is found by running the step again
(:mod:`whygrad.doctor.forensics`); each rule here is one mechanism by which it can have done so.
"""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.experiments.safe_math import is_raw, made_safe
from whygrad.doctor.mechanism import Mechanism
from whygrad.doctor.rules.rule import Finding, Proof, Rule, rule
from whygrad.doctor.source.lines import code_at
from whygrad.ops.families import SPREADS

__all__ = [
    "nan_from_division",
    "nan_from_log",
    "nan_from_sqrt",
    "nan_from_where",
    "reported",
    "sound_throughout",
]

_GUARDRAIL = "assert torch.isfinite(loss), f'loss is {loss.item()} at step {step}'"


def sound_throughout(case: Case) -> str | None:
    """What is known when no value was ever unsound."""
    passes = len(case.run.passes)
    if case.first_bad is not None or case.run.incidents or not passes:
        return None
    return f"the loss and all gradients were finite in each of {passes} backward() calls"


def reported(rule: Rule, case: Case, advice: str) -> Iterator[Finding]:
    """The finding of a rule, if its mechanism is the one that was found."""
    cause = case.mechanism
    if cause is None or cause.rule != rule.id:
        return
    bad = cause.bad
    yield rule.finding(
        cause.because,
        *_course_of_events(cause),
        where=cause.where,
        step=bad.step,
        proof=Proof.REPLAYED if bad.reproduced and bad.kind != "outside" else Proof.INFERRED,
        places=cause.places,
        fix=f"In `{code_at(cause.where)}`: {advice}",
        remedy=made_safe(cause),
        data={"op": bad.op, "kind": bad.kind, "inputs": [each.to_dict() for each in bad.before]},
    )


def _course_of_events(cause: Mechanism) -> Iterator[str]:
    """First invalid value told from later ones."""
    bad = cause.bad
    if bad.kind == "backward":
        yield (
            f"step {bad.step}: the loss is finite; the gradient that {bad.op} hands back is the"
            f" first that is not: {bad.after}"
        )
    elif bad.kind == "forward":
        yield (
            f"step {bad.step}: {bad.op} is the first call with a result that is not finite:"
            f" {bad.after}"
        )
    if bad.carriers:
        names = ", ".join(dict.fromkeys(each.op for each in bad.carriers))
        count = len(bad.carriers)
        yield (
            f"{count} other calls of that step only hand it on: {names}"
            if count > 1
            else f"{names} only hands it on"
        )


@rule(severity=3, cleared=sound_throughout)
def nan_from_log(case: Case) -> Iterator[Finding]:
    """The logarithm of a number that is not positive.

    log(x) is -inf at 0 and NaN below, and its slope 1/x is no better. One such element makes
    the mean of the batch NaN, backward() spreads that to every parameter, and after the update
    the model is gone. The learning rate is not the cause: the line takes the log of something
    that nothing keeps positive.

    Measured: The step of the first NaN is run again from the state before it; a log is the
    first call that turns finite values into others, and what it was given is counted.
    Fix: Give the log something that is positive by construction, or use a loss on logits.
    Guardrail: assert torch.isfinite(loss), f'loss is {loss.item()} at step {step}'
    """
    advice = (
        "keep the argument of the log positive. Clamp it (x.clamp_min(1e-8)) where zero can"
        " legitimately occur."
    )
    if case.mechanism is not None and is_raw(case.mechanism.bad):
        advice = (
            "this is the log of a layer's raw output, which nothing keeps positive. Make it so"
            " (F.softplus(x) + 1e-8), or use a loss that takes raw outputs (mse_loss,"
            " binary_cross_entropy_with_logits, cross_entropy)."
        )
    yield from reported(nan_from_log, case, advice)


@rule(severity=3, cleared=sound_throughout)
def nan_from_division(case: Case) -> Iterator[Finding]:
    """A division by zero.

    x/0 is infinite and 0/0 is NaN. It is an empty mask, a batch without any valid element, a
    feature that never varies, a norm that is 0: rare in the data, so training runs well until
    the batch comes that has it. A mean of no elements is the same in disguise.

    Measured: The step of the first NaN is run again from the state before it; a quotient (or a
    mean, a standard deviation, a softmax over nothing) is the first call with a result that is
    not finite, and its divisors are counted.
    Fix: Keep the divisor away from zero: divide by count.clamp(min=1) or by (norm + 1e-8).
    Guardrail: assert torch.isfinite(loss), f'loss is {loss.item()} at step {step}'
    """
    advice = (
        "keep the divisor away from zero, with .clamp(min=1) for a count and + 1e-8 for a norm or a"
        " standard deviation, or leave out a row or batch without any element."
    )
    if case.mechanism is not None and case.mechanism.bad.op in SPREADS:
        op = case.mechanism.bad.op
        advice = (
            f"{op} of a single value has nothing to divide by, and a small number added to NaN does"
            f" not help. Use x.{op}(correction=0), which is 0 there, with + 1e-8 where it divides;"
            " or leave it out where there is one value only."
        )
    yield from reported(nan_from_division, case, advice)


@rule(severity=3, cleared=sound_throughout)
def nan_from_sqrt(case: Case) -> Iterator[Finding]:
    """A root at zero or below.

    sqrt(x) is NaN below 0, and at exactly 0 its slope 1/(2·sqrt(x)) is infinite: the loss looks
    fine, and backward() returns Inf, or NaN where that meets a zero. Distances between equal
    points, standard deviations of constant values and fractional powers are all such roots.

    Measured: The step is run again from the state before it; the first gradient (or value) that
    is not finite comes out of a root, and the zeros and negative numbers it was given are
    counted.
    Fix: Put a small number under the root: torch.sqrt(x + 1e-12).
    Guardrail: torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)
    """
    yield from reported(
        nan_from_sqrt,
        case,
        "put a small number under the root, sqrt(x.clamp_min(0) + 1e-12), or leave the root out: a"
        " squared distance or a variance often does as well.",
    )


@rule(severity=3, cleared=sound_throughout)
def nan_from_where(case: Case) -> Iterator[Finding]:
    """The branch that is not taken has no finite slope.

    where(mask, a, b) computes both branches and picks afterwards. The values that it leaves out
    do not reach the loss, but they are still differentiated: backward() sends a zero into that
    branch, and zero times an infinite slope is NaN. The same goes for masked_fill, for indexing
    with a mask, and for multiplying an infinite value by 0.

    Measured: The loss of the step is finite; run again, its first bad gradient comes from a
    call whose bad elements are exactly those that a later selection leaves out.
    Fix: Make the input safe before the call: safe = where(mask, x, 1); where(mask, f(safe), b).
    Guardrail: torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, error_if_nonfinite=True)
    """
    op = "f" if case.mechanism is None else case.mechanism.bad.op
    yield from reported(
        nan_from_where,
        case,
        f"make the input safe before {op} sees it, not its result afterwards:\n"
        f"  safe = torch.where(mask, x, torch.ones_like(x))\n"
        f"  torch.where(mask, {op}(safe), other)",
    )
