"""Regularization that drowns the loss: weight decay, a penalty added to it, or dropout.

Decided by an experiment: the first steps again, with it and without it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from whygrad.doctor.evidence.anatomy import activation_place
from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.flow import follow
from whygrad.doctor.evidence.standing import standing_of
from whygrad.doctor.experiments.continued import CONTINUED, continued
from whygrad.doctor.experiments.rehearsal import REHEARSED, rehearsed
from whygrad.doctor.experiments.repairs import unlearned, without_dropout
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.naming import probability_to_keep
from whygrad.ops.families import ADD, CROSS_ENTROPY, DROPOUTS, EXP, NOISE, SCALINGS, SUM
from whygrad.recording.record import Course
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.reading import Reading, reduction_of
from whygrad.recording.replay.trainer import Descent, drop, is_below
from whygrad.recording.replay.trial import Trial
from whygrad.source import Where

__all__ = ["over_regularized"]


_OF_DECAY = "assert all(group['weight_decay'] < 0.1 for group in optimizer.param_groups)"


@dataclass(frozen=True)
class _Comparison:
    """The loss on the data: where the run got, with the regularization and without it."""

    name: str
    where: Where | None
    reached: float
    held: float
    free: Descent
    remedy: str


@rule(
    every_course=True,
    thresholds={
        **REHEARSED,
        **CONTINUED,
        "learned": (0.6, "of the loss: above it the decay does no harm"),
        "half": (0.5, "of what is reached with it, without it"),
        "free": (0.25, "of the loss that must fall without it"),
        "steps": (10, "updates: fewer do not show whether it learns"),
        "dropped": (0.9, "of the units: so much is the probability to keep one"),
        "smooth": (0.5, "of each label that is given to all classes: more than it keeps"),
        "hidden": (0.8, "of what ignoring the input costs, that the best answer costs as well"),
        "kept": (0.6, "of the units that are dropped by what is called the probability to keep"),
        "answers": (0.15, "of the answers themselves: no loss can make good for those"),
        "guess": (0.9, "of what ignoring the input costs: no better than a guess"),
        "held there": (0.95, "of it, where the loss on the data is looked at by itself"),
        "found": (0.85, "of what ignoring the input costs: something was learned …"),
        "apart": (0.2, "… by which it is lower without the other terms, of what can be learned"),
        "longer": (150, "steps of the experiment without them"),
        "long": (60, "steps of the experiment"),
        "stuck": (0.4, "of the first loss: a run that gets below is not stuck"),
        "held": (0.3, "of what falls without it, at most, falls with it"),
        "remedy": (100, "times smaller: the advice"),
        "nothing": (0.05, "nats: the code of a sample holds nothing"),
        "elements": (20, "of a sample: fewer weigh about as much as a code"),
        "very strong": (0.05, "a decay that no rate makes good for: then …"),
        "some": (0.1, "… so much of the loss has to fall without it, in the experiment, and …"),
        "much less": (0.6, "… at most so much of that with it, and in the whole run"),
        "strong": (0.02, "a decay that a rehearsal is spent on"),
        "weak": (1e-4, "the strongest decay that is advised"),
    },
    cleared=lambda case: _cleared(case),
)
def over_regularized(case: Case, course: Course) -> Iterator[Finding]:
    """The regularization drowns the loss.

    Weight decay or a penalty pulls the weights to zero harder than the data pulls them
    anywhere. The optimizer minimizes the wrong thing: the weights shrink, the output becomes a
    constant, the loss on the data stays where a guess would be. Dropout of nearly all units
    leaves as little to learn from, and so do labels that are smoothed until they say nearly the
    same of every class.

    Measured: 60 steps from the first state on the first batch with the regularization and
    without it. It drowns the loss if the run and the steps with it get nowhere on the data, and
    the steps without it do. Dropout is suspected from nine tenths on, and behind the output. Of a
    run that learned a part of it, a short training without decay, from the first state or on from
    the latest, must get far below where the whole run ended, on batches that it has not seen. Or:
    the divergence of a code is a sum beside a mean over the elements of a sample, and is gone.
    Fix: Lower the weight decay or the factor of the penalty by a factor of 100 or more.
    Guardrail: assert penalty.item() < data_loss.item(), 'the penalty is larger than the loss'
    """
    progress = case.progress(course)
    if progress.broken or progress.steps < case.limit("steps"):
        return
    for each in (_by_weight_decay(case, course), _by_penalty(case, course)):
        if each is None or each.free.is_unstable:
            continue
        # Both ends: a run that got nowhere, and an experiment that shows why.
        stuck = min(each.reached, each.held)
        halved = is_below(each.free.end, case.limit("half"), stuck)
        halved &= not is_below(stuck, case.limit("stuck"), each.free.start)
        held = drop(each.free.start, stuck)
        freed = each.free.drop > case.limit("free") and held < case.limit("held") * each.free.drop
        # A loss that is no less than zero only by its constants falls by little.
        freed |= (
            _decay(course) >= case.limit("very strong")
            and each.free.drop > case.limit("some")
            and held < case.limit("much less") * each.free.drop
        )
        if halved or freed:
            yield _drowned(each)
            return
    yield from _by_dropout(case, course)
    yield from _by_smoothing(case, course)
    beside = list(_by_other_terms(case, course))
    yield from beside or _by_collapse(case, course)
    yield from _in_a_rehearsal(case, course)


def _in_a_rehearsal(case: Case, course: Course) -> Iterator[Finding]:
    """A run that learned a part of what a few updates without decay learn."""
    decay = _decay(course)
    if decay < case.limit("strong"):
        return
    found = rehearsed(case, course, weight_decay=0.0)
    change = f"with weight_decay=0 instead of {decay:g}"
    told = None if found is None else found[0].told(found[1], change)
    if told is None and case.progress(course).gain < case.limit("well"):
        told = continued(case, course, change, weight_decay=0.0)
    if told is not None:
        weaker = min(case.limit("weak"), decay / case.limit("remedy"))
        yield over_regularized.finding(
            told,
            where=course.optimizer.made_at or course.steps[0].where,
            proof=Proof.TRIED,
            fix=f"weight_decay={weaker:.0e} instead of {decay:g}: tried without it in a short "
            "training.",
        )


def _by_weight_decay(case: Case, course: Course) -> _Comparison | None:
    decay = _decay(course)
    progress = case.progress(course)
    if not decay > 0 or progress.gain >= case.limit("learned"):
        return None
    long = int(case.limit("long"))
    held = case.descend(course, course.first, steps=long)
    free = case.descend(course, course.first, steps=long, weight_decay=0.0)
    if held is None or free is None or not math.isfinite(progress.latest):
        return None
    weaker = min(case.limit("weak"), decay / case.limit("remedy"))
    return _Comparison(
        f"weight_decay={decay:g}",
        course.optimizer.made_at or course.steps[0].where,
        progress.latest,
        held.end,
        free,
        f"weight_decay={weaker:.0e} instead of {decay:g}",
    )


def _by_dropout(case: Case, course: Course) -> Iterator[Finding]:
    """Nearly every unit is dropped, the run is no better than a guess, and learns without.

    Or most of them are, and the number is called what it is not.
    """
    trace = case.trace(course.first)
    if trace is None:
        return
    shares = [(_dropped(each), each) for each in trace.calls if each.op in DROPOUTS]
    for share, call in shares:
        where = activation_place(case, call)
        name = None if where is None or share < case.limit("kept") else probability_to_keep(where)
        if name is not None:
            yield over_regularized.finding(
                f"dropout sets {share:.0%} of its inputs to zero, and is given {name}",
                where=where,
                proof=Proof.INFERRED,
                fix=f"Dropout takes the probability to drop a unit, not to keep it: 1 - {name}.",
            )
            return
    if not unlearned(case, course, case.limit("guess")):
        return
    share, worst = max(shares, key=lambda each: each[0], default=(0.0, None))
    behind = _behind_the_output(case, course, trace)
    if behind is not None and _dropped(behind) >= case.limit("answers"):
        share, worst = _dropped(behind), behind
    elif worst is None or share < case.limit("dropped"):
        return
    free = Trial(course, without_dropout(trace.snapshot), case.budget).descend(
        steps=int(case.limit("long"))
    )
    if free is None or free.is_unstable or free.drop < case.limit("free"):
        return
    yield over_regularized.finding(
        f"dropout sets {share:.0%} of {'the answers' if behind is worst else 'its inputs'} to zero",
        f"the loss ends at {case.progress(course).end:.4g}, no better than a guess",
        f"{len(free.losses) - 1} steps on the first batch without dropout lead from "
        f"{free.start:.4g} to {free.end:.4g}",
        where=activation_place(case, worst),
        proof=Proof.TRIED,
        fix="No dropout behind the last layer: it is for hidden units."
        if behind is worst
        else "Dropout takes the probability to drop a unit, not to keep it: 0.1 to 0.5.",
    )


def _by_smoothing(case: Case, course: Course) -> Iterator[Finding]:
    """Labels that say nearly the same of every class."""
    reading, standing = case.reading(course.first), standing_of(case, course)
    if reading is None or reading.meeting is None or standing is None:
        return
    call = reading.meeting
    if call.op not in CROSS_ENTROPY:
        return
    smoothing = float(call.kwargs.get("label_smoothing") or 0.0)
    if smoothing < case.limit("smooth"):
        return
    if standing.floor < case.limit("hidden") * standing.constant:
        return
    within = [each for each in reading.trace.marks() if each.before <= call.number < each.after]
    made = [case.run.made[id(each.module)] for each in within if id(each.module) in case.run.made]
    yield over_regularized.finding(
        f"label_smoothing={smoothing:g} leaves {1 - smoothing:.0%} of each label in its place and "
        "spreads the rest over all classes",
        f"the best answer there is costs {standing.floor:.4g} then, and one that ignores the input "
        f"{standing.constant:.4g}: the loss ends at {standing.reached:.4g}",
        where=made[-1] if made else call.where,
        proof=Proof.RECORDED,
        fix=f"label_smoothing=0.1 instead of {smoothing:g}.",
        guardrail="assert criterion.label_smoothing <= 0.2",
        title="Smoothing takes away what the labels say",
    )


def _behind_the_output(case: Case, course: Course, trace: Trace) -> Traced | None:
    """The dropout that the answers come out of."""
    reading = case.reading(course.first)
    source = None if reading is None else reading.prediction_source
    maker = follow(trace, source).maker
    return maker if maker is not None and maker.op in DROPOUTS else None


def _dropped(call: Traced) -> float:
    """The share of what went in that came out as zero."""
    if not call.before or not call.after or call.before[0].zeros >= 1:
        return 0.0
    before, after = call.before[0].zeros, call.after[0].zeros
    counted = (after - before) / (1 - before)
    # What came out is a sample of what was asked for, on either side of it.
    asked = call.argument(1, "p")
    return float(asked) if counted > 0 and isinstance(asked, float) else counted


def _decay(course: Course) -> float:
    thing = course.optimizer.thing
    groups = [] if thing is None else thing.param_groups
    found = [group.get("weight_decay", 0.0) for group in groups]
    return max((float(each) for each in found if isinstance(each, (int, float))), default=0.0)


def _by_penalty(case: Case, course: Course) -> _Comparison | None:
    """A term of the loss that knows nothing of the data."""
    trace = case.trace(course.first)
    if trace is None or not trace.reproduced or course.last is None:
        return None
    if min(course.losses) < 0:
        return None  # without a floor: a penalty may be all that keeps it from falling for ever
    penalties = _penalties(trace)
    if not penalties:
        return None
    data, long = _without(case, course, penalties), int(case.limit("long"))
    held = case.descend(course, course.first, steps=long)
    free = None if data is None else data.descend(steps=long)
    if data is None or held is None or free is None:
        return None
    share = sum(float(trace.array(each.outputs[0])) for each in penalties)
    return _Comparison(
        f"a penalty of {share:.4g} next to a loss of {trace.loss - share:.4g} on the data",
        penalties[0].where,
        data.loss(course.last.values),
        data.loss(held.values),
        free,
        "a factor for the penalty that is a hundred times smaller",
    )


def _without(case: Case, course: Course, terms: list[Traced]) -> Trial | None:
    """Training with these terms taken out of the loss."""
    numbers = [each.number for each in terms]

    def rest(again: Trace) -> Any:
        root = again.root
        assert root is not None
        return root.outputs[0] - sum(
            each.outputs[0] for each in again.calls if each.number in numbers
        )

    return case.trial(course, course.first, rest)


def _by_other_terms(case: Case, course: Course) -> Iterator[Finding]:
    """Terms beside the loss on the data, as a divergence, that hold it where a guess is."""
    reading, standing = case.reading(course.first), standing_of(case, course)
    if reading is None or reading.meeting is None or standing is None or course.last is None:
        return
    chance, guess = standing.constant, case.limit("held there") * standing.constant
    if standing.reached < guess:
        return
    trace = reading.trace
    terms = _terms(trace)
    # Two targets of the same answers, as of samples that were mixed, are both data.
    meetings = [each.call for each in reading.terms if each.source == reading.prediction_source]
    others = [
        each
        for each in terms
        if not any(trace.descends(each, one) for one in (reading.meeting, *meetings))
        and each.outputs[0].requires_grad
    ]
    if not others or len(others) == len(terms) or not trace.reproduced:
        return
    data, long = _without(case, course, others), int(case.limit("longer"))
    if data is None or not standing.first > 0:
        return
    unit = data.loss(trace.snapshot.values) / standing.first  # of a sum, or times a factor
    chance, guess = chance * unit, guess * unit
    if data.loss(course.last.values) < guess:
        return
    held = case.descend(course, course.first, steps=long)
    free = data.descend(steps=long)
    if held is None or free is None or not is_below(free.end, case.limit("found"), chance):
        return
    # A single batch is learned by heart in spite of the term: not as well.
    apart = data.loss(held.values) - free.end
    if apart < case.limit("apart") * (chance - standing.floor * unit):
        return
    share = sum(float(trace.array(each.outputs[0])) for each in others)
    yield over_regularized.finding(
        f"beside the loss on the data ({trace.loss - share:.4g} in the first step) stands a term "
        f"of {share:.4g}",
        f"the loss on the data ends at {data.loss(course.last.values):.4g}; an answer that ignores "
        f"the input costs {chance:.4g}",
        f"{long} steps from the first state lead to {data.loss(held.values):.4g} with that term "
        f"and to {free.end:.4g} without it",
        where=others[0].where,
        proof=Proof.TRIED,
        fix="Weigh the terms alike: both as sums over the elements of a sample, or both as means. "
        "Here this one outweighs the loss on the data.",
    )


def _by_collapse(case: Case, course: Course) -> Iterator[Finding]:
    """A code that holds nothing: its divergence is a sum, beside a mean over all elements.

    Beside the mean over a picture the divergence weighs as many times too much as that has points.
    """
    readings = [case.reading(each) for each in (course.first, course.last)]
    sums = [_divergence(case, each) for each in readings if each is not None]
    if len(sums) < 2 or sums[0] is None or sums[1] is None:
        return
    (term, first, size), (_, last, _) = sums[0], sums[1]
    if not last < case.limit("nothing") or readings[0] is None or readings[0].meeting is None:
        return
    yield over_regularized.finding(
        f"the loss on the data is a mean over the {size} elements of each sample, and the "
        "divergence of the code is a sum: it weighs about as many times too much",
        f"the divergence is {first:.3g} at first and {last:.2g} at the end: the code says nothing "
        "of its sample",
        where=readings[0].meeting.where,
        proof=Proof.REPLAYED,
        places=[("the divergence", term.where)],
        fix="Weigh the terms alike: reduction='sum' for the loss on the data, divided by the "
        "samples as the divergence is; or both as means.",
        guardrail="print(kl.item())  # of a code that is used, some nats for each sample",
        title="The divergence drowns the loss on the data",
    )


def _divergence(case: Case, reading: Reading | None) -> tuple[Traced, float, int] | None:
    """A term that is a sum over what the noise of a step is scaled with; its value, and the number
    of elements of a sample that the mean beside it is over.
    """
    call = None if reading is None else reading.meeting
    if reading is None or call is None or reading.target is None or not reading.trace.reproduced:
        return None
    trace, shape = reading.trace, tuple(reading.target.shape)
    size = math.prod(shape[1:])
    if reduction_of(call) != "mean" or size < case.limit("elements"):
        return None
    behind = trace.ancestors(call)
    if not any(each.op in NOISE for each in trace.calls if each.number in behind):
        return None
    for term in _terms(trace):
        whole: Traced | None = term
        while whole is not None and whole.op in SCALINGS:
            whole = next((made for it in whole.sources if (made := trace.made_by(it))), None)
        inside = set() if whole is None else trace.ancestors(whole)
        exponential = any(each.op in EXP for each in trace.calls if each.number in inside)
        if whole is not None and whole.op in SUM and exponential and call.number not in inside:
            return term, abs(float(trace.array(term.outputs[0]))), size
    return None


def _penalties(trace: Trace) -> list[Traced]:
    """Of the terms those that are made from parameters alone."""
    terms = _terms(trace)
    pure = [each for each in terms if not _knows_data(trace, each)]
    return pure if len(pure) < len(terms) else []


def _terms(trace: Trace) -> list[Traced]:
    """The terms of the sum that the loss is."""
    terms: list[Traced] = []
    waiting = [trace.root]
    while waiting:
        call = waiting.pop()
        if call is None:
            continue
        if call.op in ADD and trace.array(call.outputs[0]).size == 1:
            waiting += [trace.made_by(each) for each in call.sources]
        else:
            terms.append(call)
    return terms


def _knows_data(trace: Trace, term: Traced) -> bool:
    numbers = trace.ancestors(term) | {term.number}
    return any(
        source is None and not given.requires_grad and trace.array(given).size > 1
        for call in trace.calls
        if call.number in numbers
        for given, source in zip(call.inputs, call.sources)
    )


def _drowned(found: _Comparison) -> Finding:
    return over_regularized.finding(
        f"there is {found.name}",
        f"loss of the first batch on the data: {found.free.start:.4g} at first, "
        f"{found.reached:.4g} with the weights the run ended with",
        f"{len(found.free.losses) - 1} steps from the first state lead to {found.held:.4g} "
        f"with it and to {found.free.end:.4g} without it",
        where=found.where,
        proof=Proof.TRIED,
        fix=f"Use {found.remedy}.",
        **({"guardrail": _OF_DECAY} if found.name.startswith("weight_decay") else {}),
    )


def _cleared(case: Case) -> str | None:
    for course in case.courses:
        decay = _decay(course)
        if decay > 0 and case.progress(course).gain >= case.limit("learned"):
            return f"weight_decay={decay:g}, and the loss fell by {case.progress(course).gain:.0%}"
    return None
