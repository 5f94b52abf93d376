"""What is said of a run that broke when no other rule can say why.

A loss that is not finite, or a backward() that raises, is never well.  So these rules are asked
last, only when all others were silent, and name what is certain: the first bad value and the call
that made it, with the likeliest of the usual reasons.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.growth import growth
from whygrad.doctor.forensics import FirstBad
from whygrad.doctor.mechanism.domains import rule_of
from whygrad.doctor.rules.rule import Finding, Proof, rule, rules
from whygrad.recording.record import Course
from whygrad.recording.replay.trainer import norm

__all__ = ["backward_raised", "non_finite_value"]


@rule(
    severity=3,
    thresholds={
        "huge": (1e9, "value or larger: the call overflowed for the size of what came in"),
        "links": (3, "multiplications that values grow through"),
        "factor": (30.0, "from the beginning to the end of such a chain"),
        "norm": (3, "times the first parameters: they had grown"),
    },
    last=True,
)
def non_finite_value(case: Case) -> Iterator[Finding]:
    """A value is not finite, and nothing explains it.

    The loss or a gradient became NaN or Inf. From the next update on every parameter is, and
    nothing that follows means anything. No other rule knows why; the first call that made such
    a value is the place to look.

    Measured: The step is run again from the state before it and followed back from the loss or
    the gradient to the first call with a result that is not finite. Asked only when all other
    rules are silent; if the values grow along the depth, if the parameters have grown, or if
    the call has no value at what it was given, the rule for that speaks instead.
    Fix: Print what this call is given, one step before: which value is huge, zero or negative?
    Guardrail: assert torch.isfinite(loss), f'loss is {loss.item()} at step {step}'
    """
    if case.went_bad is None:
        return
    bad = case.first_bad
    incident = next(each for each in case.run.incidents if each.kind in ("loss", "gradient"))
    course = next((each for each in case.courses if each.bad is not None), None)
    known = _domain(case, bad) or (None if course is None else _grown(case, course, bad))
    chosen, said = known if known is not None else ("non-finite-value", None)
    by_rate = chosen == "lr-too-high" and course is not None
    where = incident.where if bad is None else bad.where
    yield rules[chosen].finding(
        f"the {incident.kind} of step {incident.step} is not finite",
        None if bad is None else _told(bad),
        said,
        where=(course.optimizer.made_at if by_rate and course is not None else None) or where,
        step=incident.step if bad is None else bad.step,
        proof=Proof.USUAL,
        places=[("first seen here", where)],
    )


def _domain(case: Case, bad: FirstBad | None) -> tuple[str, str] | None:
    """The rule of a call that has no value, or no slope, everywhere."""
    name = None if bad is None else rule_of(bad.op)
    if bad is None or name is None or name == "overflow-in-exp" or name not in rules:
        return None
    if any(each.size and each.largest >= case.limit("huge") for each in bad.before):
        return None  # an overflow: it is the size of what came in
    return name, f"{bad.op} is not finite, or has no finite slope, for every input"


def _grown(case: Case, course: Course, bad: FirstBad | None) -> tuple[str, str] | None:
    """Whether numbers were growing: along the depth from the start, or from step to step."""
    chain = growth(case, course, links=int(case.limit("links")), factor=case.limit("factor"))
    if chain is not None:
        return (
            "exploding-gradient",
            f"in the first step already, values grow {chain.forward:.3g}-fold and gradients "
            f"{chain.factor:.3g}-fold through {len(chain.chain)} multiplications",
        )
    broken = course.bad if bad is None or bad.trace is None else bad.trace.snapshot
    if broken is None or course.first is None:
        return None
    shared = broken.values.keys() & course.first.values.keys()
    now, then = (
        norm({name: of.engine.array(of.values[name]).astype(float) for name in shared})
        for of in (broken, course.first)
    )
    if math.isfinite(now) and not now > case.limit("norm") * then:
        return None
    if not math.isfinite(now) and len(course.steps) < 2:
        return None
    return "lr-too-high", f"the norm of all parameters went from {then:.3g} to {now:.3g}"


def _told(bad: FirstBad) -> str:
    given = "; ".join(str(each) for each in bad.before) or "nothing that is known"
    return f"{bad.op} is the first call with a bad value: given {given}, it makes {bad.after}"


@rule(severity=3, last=True)
def backward_raised(case: Case) -> Iterator[Finding]:
    """backward() raised an exception.

    No gradient was computed, or only some. Whatever is done with the parameters after it is
    done with gradients of an earlier step, or with none.

    Measured: A call of backward() that ended with an exception which no other rule explains.
    Fix: Read the message: it names the operation whose gradient could not be computed.
    Guardrail: torch.autograd.set_detect_anomaly(True)  # names the forward line of the
    operation
    """
    for each in case.run.incidents:
        if each.kind == "exception":
            message = str(each.error).strip().partition("\n")[0]
            yield backward_raised.finding(
                f"{type(each.error).__name__}: {message}",
                where=each.where,
                step=each.step,
                proof=Proof.RAISED,
            )
            return
