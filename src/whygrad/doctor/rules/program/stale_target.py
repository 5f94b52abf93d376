"""A copy of the model that says what the model is to answer, and that is never brought up to date.

A target network, a teacher that is a moving average, the encoder of the keys: each is a copy that
follows the model at a distance.  A fixed network as a target is right in other places: a teacher
that was trained or loaded, a reference that is asked about the very inputs of the model, a random
network whose answers are to be predicted.  What is reported was never trained, has the shape of a
model that learns, is asked about other inputs than that model, and stays what it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.models import are_alike, known_of
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.recording.calls import Produced, members
from whygrad.recording.record import Course, Mark, Snapshot
from whygrad.source import Where

__all__: list[str] = []

# Of a part inside of a model, which may as well be a layer that is frozen, the name tells.
_COPY = re.compile(r"targ|tgt|teach|ema|moment|moving|avg|slow|shadow|key|prime|_[tk]$|_?old")


class _Pair(NamedTuple):
    """A model that learns and the copy that its targets come from."""

    copy: Any
    model: Any
    asked: list[Mark]  # of the copy, in training passes


@rule(
    thresholds={
        "updates": (30, "of the model: fewer may all come before the first copying"),
        "share": (0.6, "of the run for which the same copy is asked: it may be made anew"),
        "early": (2, "passes before the copy is first asked: later, it may be of a trained model"),
    },
)
def stale_target(case: Case, course: Course) -> Iterator[Finding]:
    """Targets come from a copy of the model that never follows it.

    A target network, a moving average of the weights or a momentum encoder is a copy that is to
    follow the model. Here it keeps the values it was made with: what the model learns never gets
    into its targets. It is not copied at all, or the other way round.

    Measured: A module of the same kind and with parameters of the same shapes as one that is
    trained, that no optimizer holds, that training passes ask about other inputs than the model,
    and whose parameters are at the end what they were at the beginning; not if it was loaded, or
    made of a model that had been trained.
    Fix: Copy the weights after an update, or every few hundred:
    target.load_state_dict(model.state_dict()), or p_target.lerp_(p_model, tau) under no_grad().
    Guardrail: before = target_p.clone(); sync(); assert not torch.equal(before, target_p)
    """
    if len(course.steps) < case.limit("updates") or course.optimizer.thing is None:
        return
    pair = next(_pairs(case, course), None)
    if pair is None:
        return
    own, copied = known_of(case, pair.model), known_of(case, pair.copy)
    reverse, how = _reversed(case, pair)
    first, last = pair.asked[0], pair.asked[-1]
    amount = sum(each.tensor.numel() for each in copied)
    yield stale_target.finding(
        f"the {first.kind} that is asked at line {first.where.line} has the shapes of the one that "
        f"{course.optimizer.kind} trains; its {len(copied)} parameters ({amount} values) are at "
        "the end what they were at the beginning",
        f"{len(course.steps)} updates changed the model, and what the copy answers goes into the "
        f"loss from pass {first.passes} to pass {last.passes}",
        how,
        where=reverse or course.steps[-1].where,
        proof=Proof.RECORDED if reverse is not None else Proof.INFERRED,
        parameters=[each.name for each in (copied if reverse is None else own)],
        places=[
            ("the copy is asked here", first.where),
            ("the copy is made here", case.run.made.get(id(pair.copy))),
        ],
        fix="Turn it around: the copy is to be written, from the model."
        if reverse is not None
        else stale_target.fix,
    )


def _pairs(case: Case, course: Course) -> Iterator[_Pair]:
    held = {id(each.tensor) for each in course.parameters}
    models = [
        module
        for _, root, _ in case.run.roots
        for module in root.modules()
        if (own := list(module.parameters())) and all(id(each) in held for each in own)
    ]
    last = course.steps[-1].number
    for asked in _asked(case).values():
        copy = asked[0].module
        known = known_of(case, copy)
        long = asked[-1].passes - asked[0].passes >= case.limit("share") * last
        if not known or any(each.changed or each.redrawn for each in known) or not long:
            continue
        for model in models:
            alike = are_alike(model, copy)
            changed = any(each.changed for each in known_of(case, model))
            if alike and changed and not _is_meant(case, course, model, asked):
                pair = _Pair(copy, model, asked)
                # Gradients that come to it tell of a model that learns, unless it is written from.
                if not any(each.reached for each in known) or _reversed(case, pair)[0] is not None:
                    yield pair


def _asked(case: Case) -> dict[int, list[Mark]]:
    """Calls whose answers went into a training pass, by the module."""
    run = case.run
    snapshots = [each for course in case.courses for each in (course.first, course.last) if each]
    marks = [mark for mark in run.inference_marks if mark.trains]
    marks += [mark for mark in run.inside_marks if _COPY.search(mark.path.rpartition(".")[2])]
    marks += [mark for each in snapshots for mark in each.marks if not mark.depth]
    found: dict[int, list[Mark]] = {}
    for mark in sorted(marks, key=lambda each: each.passes):
        found.setdefault(id(mark.module), []).append(mark)
    return found


def _is_meant(case: Case, course: Course, model: Any, asked: list[Mark]) -> bool:
    """Whether the copy is to stay: trained before, loaded, or asked what the model is asked."""
    begins = min(
        each.steps[0].passes[0].number
        for each in case.courses
        if each.steps[0].passes
        and {id(one.tensor) for one in each.parameters} & {id(one) for one in model.parameters()}
    )
    if asked[0].passes > begins + case.limit("early"):
        return True
    if any(each.after <= begins for each in case.run.loaded):
        return True
    copy = asked[0].module
    inside = {id(each) for each in copy.modules()}
    for each in case.run.restored:
        if id(each.thing) in inside and each.taken is not None and 0 < each.taken <= begins:
            return True
    calls = [
        (snapshot, mark)
        for snapshot in (course.first, course.last)
        if snapshot is not None
        for mark in snapshot.marks
        if mark.recorded and mark.passes == snapshot.step and _is_of(mark, model)
    ]
    fed = any(_comes_from(snapshot, mark, copy) for snapshot, mark in calls)
    return fed or not (asked[0].depth or _other_inputs(calls, asked))


def _is_of(mark: Mark, model: Any) -> bool:
    """Whether a call is one of the model, or of what the model is a part of."""
    return not mark.depth and any(each is model for each in mark.module.modules())


def _comes_from(snapshot: Snapshot, mark: Mark, copy: Any) -> bool:
    """Whether a call is given what the copy answered: then that is a layer before it."""
    log = snapshot.log
    given = list(members(mark.inputs))
    origin = None if log is None else log.evaluated(given)
    if origin is not None and origin.evaluation.module is copy:
        return True
    answers = {
        each.call
        for one in snapshot.marks
        if one.module is copy
        for each in members(one.outputs)
        if type(each) is Produced
    }
    waiting = [each.call for each in given if type(each) is Produced]
    seen: set[int] = set()
    while waiting:
        number = waiting.pop()
        if number in answers:
            return True
        if number not in seen and number in snapshot.calls:
            seen.add(number)
            waiting += [each.call for each in snapshot.calls[number].sources()]
    return False


def _other_inputs(calls: list[tuple[Snapshot, Mark]], asked: list[Mark]) -> bool:
    """Whether a training pass asks the model something that the copy is not asked."""
    for step in {snapshot.step for snapshot, _ in calls}:
        given = {mark.given for snapshot, mark in calls if snapshot.step == step}
        theirs = {mark.given for mark in asked if mark.passes == step}
        if given and theirs and not given <= theirs:
            return True
    return False


def _reversed(case: Case, pair: _Pair) -> tuple[Where | None, str | None]:
    """The line that writes the values of the copy into the model, and what was seen of it."""
    for each in case.run.restored:
        if each.thing is pair.model and each.after and not each.initial:
            return each.where, "load_state_dict() is called on the model, never on the copy"
        if each.thing is pair.copy and each.own:
            return each.where, "the state that is put into the copy is its own"
    written = [each.rewritten_at for each in known_of(case, pair.model) if each.rewritten_at]
    if written and len(written) == len(known_of(case, pair.model)):
        return written[-1], "the program writes to the parameters of the model, not of the copy"
    return None, None
