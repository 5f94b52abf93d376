"""Training that goes uphill: the error of the prediction grows with every step.

A negative loss is no evidence: log-likelihoods, rewards and adversaries have them.  Evidence is an
error that enters the loss with a minus, or a likelihood that enters it with a plus, while nothing
else in the loss pulls the other way.  Nothing is said where one error is traded against another,
nor about a network, or an input, that is trained against another network's loss.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.curve import quarter
from whygrad.doctor.evidence.flow import first_readings, follow
from whygrad.doctor.evidence.measures import Measure, Sign, measures_of, sign_of
from whygrad.doctor.evidence.progress import draws_itself, is_entangled
from whygrad.doctor.experiments.changes import mended, negated
from whygrad.doctor.experiments.remedies import Remedy
from whygrad.doctor.rules.policy import rewarded_less
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.lines import loss_assigned
from whygrad.ops.families import LOG, NEG, RESHAPING, REVERSED_SUB, SCALINGS, SHIFTS, SUB, TOTALS
from whygrad.recording.record import Course
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.reading import Reading
from whygrad.recording.replay.recipes import Wrapper, passed_on
from whygrad.source import Where

__all__ = ["loss_sign"]

# A function that is called so and returns a likelihood is where the minus is missing.
_LOSS = re.compile(r"loss|nll|neg|criterion|objective|cost|error", re.IGNORECASE)
Judged = list[tuple[Measure, Sign]]
_SCALED = RESHAPING | TOTALS | NEG | SCALINGS


@rule(
    every_course=True,
    thresholds={
        "far": (100, "times the first loss below zero: other terms no longer count"),
        "falling": (1.5, "times lower in the last quarter: it speeds up, with no end"),
        "endless": (1e6, "times the first loss below zero: no likelihood gets there"),
        "along": (0.2, "cosine of the update with the gradient: momentum and noise stay below"),
    },
    cleared=lambda case: _cleared(case),
)
def loss_sign(case: Case, course: Course) -> Iterator[Finding]:
    """Training goes uphill: the error is maximised.

    The optimizer makes the loss small. Here the error of the prediction enters the loss with a
    minus, or a likelihood without one, or the update follows the gradient instead of going
    against it. The model gets worse with every step.

    Measured: The sign with which each error, likelihood or similarity enters the loss, followed
    through the calls; the direction of the first update against the gradient; the error before
    and after training; and a term beside the error that falls without end. Of a policy: the sign of
    the log-probability times a reward, where rewards did not grow.
    Fix: Minimise the error: loss = criterion(output, target), or minus the mean log-likelihood.
    Guardrail: assert loss.item() >= 0  # for errors that cannot be negative
    """
    trace = case.trace(course.first)
    reading = case.reading(course.first)
    if trace is None or reading is None or not _is_its_own(case, course, reading):
        return
    judged = [(each, sign_of(trace, each)) for each in measures_of(reading)]
    told = rewarded_less(case, course)
    if told is not None and not _goes_uphill(case, course, trace):
        yield loss_sign.finding(*told[0], **told[1])
        return
    if not judged or any(sign.value is None for _, sign in judged):
        return
    directions = {measure.wanted * (sign.value or 0) for measure, sign in judged}
    uphill = _goes_uphill(case, course, trace)
    if directions == {-1} and not uphill:
        yield from _turned(case, course, trace, judged)
    elif directions == {1} and uphill:
        yield from _ascending(case, course, trace, judged)
    elif directions == {1}:
        yield from _bottomless(case, course, trace, judged)


def _is_its_own(case: Case, course: Course, reading: Reading) -> bool:
    """Whether all that this loss trains belongs to this course: an adversary trains another's."""
    own = {id(each.tensor) for each in course.parameters}
    attacked = reading.models and all(each.module is None for each in course.parameters)
    if attacked:  # an input is trained against a model that stays as it is
        return False
    reached = set(reading.trace.gradients) or set(reading.trace.parameters)
    return bool(own & reached) and all(
        name in own or not _is_trained_elsewhere(case, name) for name in reached
    )


def _is_trained_elsewhere(case: Case, name: int) -> bool:
    known = case.run.parameters.get(name)
    return known is not None and (known.module is not None or bool(known.optimizers))


def _goes_uphill(case: Case, course: Course, trace: Trace) -> bool:
    """Whether the first update went along the gradient of the loss."""
    if course.optimizer.options.get("maximize"):
        return True
    if len(course.steps[0].passes) != 1 or not trace.reproduced:
        return False
    dot = ours = theirs = 0.0
    for name, gradient in trace.gradients.items():
        before, after = trace.snapshot.values.get(name), course.after.get(name)
        if before is None or after is None:
            continue
        engine = trace.engine
        change = engine.array(after).astype(np.float64) - engine.array(before)
        if change.shape != gradient.shape:  # of a sparse one, only the rows that are there
            continue
        dot += float((change * gradient).sum())
        ours += float((change**2).sum())
        theirs += float((gradient.astype(np.float64) ** 2).sum())
    if not (ours > 0 and theirs > 0):
        return False
    return dot / float(np.sqrt(ours * theirs)) > case.limit("along")


def _later_loss(course: Course, trace: Trace) -> float | None:
    """The loss of the first batch with the latest parameters."""
    last = course.last
    if last is None or last is course.first or not trace.reproduced:
        return None
    if draws_itself(trace.snapshot):  # with other parameters it would be about something else
        return None
    value = trace.again(values=last.values, backward=False).loss
    return value if np.isfinite(value) else None


def _turned(case: Case, course: Course, trace: Trace, judged: Judged) -> Iterator[Finding]:
    """The loss has the wrong sign: the optimizer did its work, and the error grew."""
    later = _later_loss(course, trace)
    if later is not None and later > trace.loss:
        return
    if not _same_signs_later(case, course, judged):
        return
    measure, sign = judged[0]
    where = _where(course, trace, measure, sign)
    density = _is_of_a_density(trace, measure, sign)
    wanted = -measure.wanted if density else measure.wanted
    turned = -(sign.value or 0) if density else (sign.value or 0)
    yield loss_sign.finding(
        f"{'the log-likelihood' if density else measure.name} at {measure.call.spot} "
        f"enters the loss with a {'plus' if turned > 0 else 'minus'}, so a smaller loss means "
        f"{'a larger' if wanted > 0 else 'a smaller'} one; it should become "
        f"{'small' if wanted > 0 else 'large'}",
        f"on the first batch the loss went from {trace.loss:.4g} to {later:.4g} by the last "
        "steps: by so much the predictions got worse"
        if later is not None
        else None,
        where=where,
        step=trace.snapshot.step,
        proof=Proof.REPLAYED,
        fix=f"Turn the sign around at line {where.line}: "
        + ("drop the minus." if wanted > 0 else "minimise minus the log-likelihood."),
        places=[("measured here", measure.call.where)],
        remedy=mended(trace.snapshot, _turned_around(trace, measure, sign, density)),
    )


def _turned_around(trace: Trace, measure: Measure, sign: Sign, density: bool) -> dict[int, Wrapper]:
    """The step with the minus left out, or with one before the whole loss."""
    last = sign.turned_at[-1] if sign.turned_at and not density else None
    if measure.wanted > 0 and last is not None and last.op in NEG:
        return {last.number: passed_on}
    root = trace.root
    assert root is not None
    return {root.number: negated}


def _bottomless(case: Case, course: Course, trace: Trace, judged: Judged) -> Iterator[Finding]:
    """Beside the error another term falls faster and faster: a penalty with the wrong sign."""
    losses, last = course.losses, course.last
    if last is None or is_entangled(course, case.courses) or not trace.reproduced:
        return
    last_part = quarter(losses)
    before = float(np.median(losses[-2 * last_part : -last_part]))
    end = float(np.median(losses[-last_part:]))
    first = max(1.0, abs(losses[0]))
    falls = end < case.limit("falling") * before < 0 or end < -case.limit("endless") * first
    if not (falls and end < -case.limit("far") * first):
        return
    later = trace.again(values=last.values, backward=False)
    measure = judged[0][0]
    again = later.call(measure.call.number)
    term = _lowest_term(later)
    if later.error is not None or again is None or term is None:
        return
    errors = [float(np.mean(each.array(call.outputs[0]))) for each, call in
              ((trace, measure.call), (later, again))]  # fmt: skip
    if not 0 < case.limit("far") * errors[1] < -end:
        return
    yield loss_sign.finding(
        f"the loss went from {losses[0]:.4g} to {losses[-1]:.4g} and has no lower end: the "
        f"term at line {term.where.line} falls on and on",
        f"{measure.name} at {measure.call.spot} went from {errors[0]:.4g} to "
        f"{errors[1]:.4g} on the first batch: beside that term it no longer counts",
        where=term.where,
        step=trace.snapshot.step,
        proof=Proof.INFERRED,
        fix=f"Turn the sign of the term at line {term.where.line} around: as a penalty it has to "
        "be smallest where the model should go.",
        places=[("the error", measure.call.where)],
    )


def _lowest_term(trace: Trace) -> Traced | None:
    """The sum or difference from which the loss has its most negative part."""
    call, sign, found = trace.root, 1.0, None
    while call is not None and call.inputs:
        sizes = [float(np.mean(trace.array(each))) for each in call.inputs]
        places = list(range(len(sizes)))
        if call.op in SHIFTS:
            turned = 1 if call.op in SUB else 0 if call.op in REVERSED_SUB else None
            parts = [sign * size * (-1 if at == turned else 1) for at, size in enumerate(sizes)]
            place = min(places, key=parts.__getitem__)
            sign, found = sign * (-1 if place == turned else 1), call
        elif call.op in _SCALED:
            place = next((at for at in places if call.inputs[at].requires_grad), 0)
            factor = [each for each in call.args if isinstance(each, (int, float))]
            turns = call.op in NEG or (call.op in SCALINGS and factor and factor[0] < 0)
            sign = -sign if turns else sign
        else:
            break
        call = trace.made_by(call.sources[place])
    return found


def _same_signs_later(case: Case, course: Course, judged: Judged) -> bool:
    """A factor that changes from step to step is data, such as a reward, and not a sign."""
    reading = case.reading(course.last)
    if reading is None or course.last is course.first:
        return True
    later = [sign_of(reading.trace, each).value for each in measures_of(reading)]
    return later == [sign.value for _, sign in judged]


def _where(course: Course, trace: Trace, measure: Measure, sign: Sign) -> Where:
    """The line of the last minus; without one, the line where it is missing: that of the loss.

    A function that returns a likelihood, and says so, is right: who takes it for a loss is not.
    """
    root = trace.root
    assert root is not None
    if measure.wanted > 0 and sign.turned_at and not _is_of_a_density(trace, measure, sign):
        return sign.turned_at[-1].where
    backward = next((each.where for each in course.steps[0].passes), None)
    if backward is None or _LOSS.search(root.where.function):
        return root.where
    return loss_assigned(backward) or root.where


def _is_of_a_density(trace: Trace, measure: Measure, sign: Sign) -> bool:
    """Whether an error has its minus from the formula of a density, where it is right.

    There a logarithm, or the number that it comes to, is subtracted sample by sample.
    """
    if not sign.turned_at or measure.wanted < 0:
        return False
    size = sign.turned_at[-1].outputs[0].numel()
    return any(
        call.op in SUB
        and trace.descends(call, sign.turned_at[-1])
        and call.outputs[0].numel() == size > 1
        and (len(call.inputs) == 1 or follow(trace, call.sources[1]).op in LOG)
        for call in trace.calls
    )


def _ascending(case: Case, course: Course, trace: Trace, judged: Judged) -> Iterator[Finding]:
    """The loss is right and the update goes the wrong way."""
    later = _later_loss(course, trace)
    if later is not None and later < trace.loss:
        return
    optimizer = course.optimizer
    maximize = bool(optimizer.options.get("maximize"))
    where = optimizer.made_at if optimizer.thing is not None else course.steps[0].where
    yield loss_sign.finding(
        f"{optimizer.kind} was made with maximize=True"
        if maximize
        else "the first update moved the parameters along the gradient, not against it",
        f"the loss is an error to be made small: {judged[0][0].name}",
        f"on the first batch it went from {trace.loss:.4g} to {later:.4g}"
        if later is not None
        else None,
        where=where,
        step=trace.snapshot.step,
        proof=Proof.RECORDED,
        fix="Drop maximize=True." if maximize else "Subtract: w -= lr * w.grad.",
        remedy=Remedy(trace.snapshot, mended={"options": {"maximize": False}})
        if maximize
        else Remedy(trace.snapshot, as_it_is={"factor": -1.0}),
    )


def _cleared(case: Case) -> str | None:
    for reading in first_readings(case):
        measures = measures_of(reading)
        signs = [sign_of(reading.trace, each).value or 0 for each in measures]
        if signs and all(sign * each.wanted > 0 for sign, each in zip(signs, measures)):
            name = measures[0].name
            return f"{name} enters the loss with a {'plus' if signs[0] > 0 else 'minus'}"
    return None
