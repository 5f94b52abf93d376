"""Parameters that do get gradients, but not those that they are trained with.

To stop a gradient on purpose is common: targets, baselines, codes, the border of a chunk.  What is
reported here has a structure that none of these has: the updates of an optimizer all find no
gradient, or none but zero; of a recurrence that reads one input after the other only the last step
learns; or an encoder learns from its prior alone while the reconstruction of its input goes past
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.cuts import Cut, Ways
from whygrad.doctor.rules.cuts import CUTS, connected, way_out
from whygrad.doctor.rules.drawn_terms import drawn_term
from whygrad.doctor.rules.rule import Proof
from whygrad.doctor.rules.words import listed
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay import Traced
from whygrad.recording.replay.reading import Reading

__all__ = ["half_cut"]

Told = tuple[list[str], dict[str, Any]]  # the evidence, and the rest of a finding
_PICKING = ops.PICKS | ops.SPLITS
_STRAIGHT_THROUGH = (
    "Pass the gradient straight through the choice: code = z + (code - z).detach(), where z is "
    "what the encoder returns; the value is that of the code, the gradient goes to z."
)


def half_cut(case: Case) -> Iterator[Told]:
    """What is cut in one of these ways, with the line of the cut."""
    for course in case.courses:
        found = (
            _own_steps(case, course)
            or _flat(case, course)
            or _recurrence(case, course)
            or _encoder(case, course)
            or drawn_term(case, course)
        )
        if found is not None:
            yield found
            return


def _facts(
    snapshot: Snapshot | None, cut: Cut, names: list[str], proof: Proof, fix: str = ""
) -> dict[str, Any]:
    fix = fix or way_out(cut.kind, cut.where, names)
    remedy = connected(snapshot, cut.where)
    return {"where": cut.where, "proof": proof, "parameters": names, "fix": fix, "remedy": remedy}


def _own_steps(case: Case, course: Course) -> Told | None:
    """An optimizer that finds no gradient at any update, although other losses make some."""
    steps = course.steps
    trained = [each for each in course.parameters if each.requires_grad]
    trace = case.trace(course.first)
    if (
        len(steps) < case.limit("own updates")
        or not trained
        or trace is None
        or not trace.reproduced
    ):
        return None
    if any(size for step in steps for size in step.gradients.values()):
        return None
    if any(each.changed for each in trained) or not any(each.reached for each in trained):
        return None
    ways = Ways(trace)
    leaves = {id(each.tensor) for each in trained}
    cuts = ways.cuts(leaves, ways.computed_from(leaves))
    if not cuts or any(each.number in ways.live for each in ways.uses(leaves)):
        return None
    names = [each.name for each in trained]
    cut = cuts[-1]
    return (
        [
            f"none of {len(steps)} updates of {course.optimizer.kind} found a gradient: in the "
            f"loss before them, what is computed from {listed(names)} is "
            f"{CUTS[cut.kind][0]}",
            "another loss does reach these parameters, but its gradients are cleared before",
        ],
        _facts(course.first, cut, names, Proof.RECORDED),
    )


def _flat(case: Case, course: Course) -> Told | None:
    """Parameters whose gradient is zero at every update: they are only drawn from, or rounded."""
    trace = case.trace(course.first)
    if len(course.steps) < case.limit("own updates") or trace is None or not trace.reproduced:
        return None
    ways = Ways(trace)
    flat = [
        each
        for each in course.parameters
        if each.requires_grad
        and (sizes := [step.gradients.get(each.name) for step in course.steps])
        and not any(sizes)
        and any(size == 0 for size in sizes)
        and (uses := ways.uses([id(each.tensor)]))
        and not any(use.number in ways.live for use in uses)
    ]
    leaves = {id(each.tensor) for each in flat}
    cuts = ways.cuts(leaves, ways.computed_from(leaves))
    if not flat or not cuts:
        return None
    names, cut = [each.name for each in flat], cuts[-1]
    return (
        [
            f"what is computed from {listed(names)} is {CUTS[cut.kind][0]} on the way to the loss",
            f"their gradient is zero at each of {len(course.steps)} updates",
        ],
        _facts(course.first, cut, names, Proof.REPLAYED),
    )


def _recurrence(case: Case, course: Course) -> Told | None:
    """Weights that are used on one input after the other, where only the last use learns."""
    first = _only_the_last(case, course, course.first)
    later = None if first is None else _only_the_last(case, course, course.last)
    if first is None or later is None or first[1].where != later[1].where:
        return None
    name, cut, uses = first
    return (
        [
            f"{name} is used {uses} times on the way to the loss, on one input after the other, "
            f"and each time what it computed is {CUTS[cut.kind][0]} before the next",
            "only the last step gets a gradient: how to keep what came before is never learned",
        ],
        _facts(
            course.first,
            cut,
            [name],
            Proof.REPLAYED,
            "Let the state keep its history inside the loop over time; detach it only between "
            "chunks, after an update.",
        ),
    )


def _only_the_last(
    case: Case, course: Course, snapshot: Snapshot | None
) -> tuple[str, Cut, int] | None:
    trace = case.trace(snapshot)
    if trace is None or not trace.reproduced:
        return None
    ways = Ways(trace)
    for parameter in course.parameters:
        found = _last_alone(ways, id(parameter.tensor), case.limit("time steps"))
        if found is not None:
            return parameter.name, *found
    return None


def _last_alone(ways: Ways, leaf: int, least: float) -> tuple[Cut, int] | None:
    """The cut before the last use of a weight, where that use is the only one that learns."""
    uses = ways.uses([leaf])
    learning = [each for each in uses if each.number in ways.live]
    if len(uses) <= least or learning != uses[-1:]:
        return None
    first = {each.number for each in uses}
    fed = [_own_input(ways, each, first) for each in uses]
    if None in fed or len(set(fed)) < len(fed):
        return None  # the same input again: an iteration to a fixed point
    between = ways.after([uses[-2].number]) & ways.trace.ancestors(uses[-1])
    cuts = ways.cuts([leaf], {*between, uses[-2].number, uses[-1].number})
    return (cuts[-1], len(uses)) if cuts else None


def _own_input(ways: Ways, use: Traced, uses: set[int]) -> Produced | None:
    """What was picked from the data for a use to compute with, apart from earlier uses."""
    waiting, behind = [use], ways.after(uses)
    while waiting:
        call = waiting.pop()
        for source in call.sources:
            made = ways.trace.made_by(source)
            if made is None or made.number in uses:
                continue
            if made.op in _PICKING and made.number not in behind:
                return source
            waiting.append(made)
    return None


def _encoder(case: Case, course: Course) -> Told | None:
    """Parameters that the prediction of the data depends on, and that learn from no data at all."""
    reading = case.reading(course.first)
    if reading is None or not reading.trace.reproduced or reading.target is None:
        return None
    ways = Ways(reading.trace)
    learned = ways.computed_from({id(each.tensor) for each in course.parameters})
    terms = [
        each
        for each in reading.terms
        if _is_data(reading, each.target)
        # What a code was detached from is no data.
        and not (each.target_source is not None and each.target_source.call in learned)
    ]
    if not any(_is_given(reading, each.target) for each in terms):
        return None  # a reconstruction is compared with what the model was given
    reaching = [_reached(ways, each.call) for each in terms]
    behind = [{*reading.trace.ancestors(each.call), each.call.number} for each in terms]
    choices = [each.number for each in reading.trace.calls
               if each.op in ops.POSITIONS and each.number in learned]  # fmt: skip
    coded = ways.after(choices)
    found, wanted = [], set()
    leaves: set[int] = set()
    for parameter in course.parameters:
        calls = ways.uses([id(parameter.tensor)])
        uses = {each.number for each in calls}
        if not uses & ways.live or any(uses & each for each in reaching):
            continue
        if any(it is not None and it.call in coded for each in calls for it in each.sources):
            continue  # the codes that are chosen from have a loss of their own
        if any(ways.computed_from([id(parameter.tensor)]) & each for each in behind):
            found.append(parameter.name)
            leaves.add(id(parameter.tensor))
            wanted |= uses
    cuts = ways.cuts(leaves, set().union(*behind))
    if not found or not cuts or any(_called_again(reading, each) for each in wanted):
        return None
    cut = cuts[-1]
    return (
        [
            f"the reconstruction is computed from {listed(found)}, but {CUTS[cut.kind][0]} "
            "on the way: its error trains what comes after, and not these",
            "their only gradient comes from a term in which the data are not compared with "
            "anything: it makes them forget the input",
        ],
        _facts(course.first, cut, found, Proof.INFERRED, _STRAIGHT_THROUGH if choices else ""),
    )


def _reached(ways: Ways, call: Traced) -> set[int]:
    """The calls that the gradient of one term gets to."""
    return Ways(ways.trace, call).live


def _is_data(reading: Reading, target: Any) -> bool:
    """Not so what is the same everywhere: the mean of a prior."""
    return target is not None and bool(np.ptp(reading.trace.array(target)) > 0)


def _is_given(reading: Reading, target: Any) -> bool:
    """Whether a target has the values of an input, in whatever shape."""
    values = reading.trace.array(target).ravel()
    inputs = [reading.trace.array(each).ravel() for each in reading.inputs]
    return any(values.size == each.size and np.array_equal(values, each) for each in inputs)


def _called_again(reading: Reading, number: int) -> bool:
    """Whether the call was made by a module that is called on several inputs: two views."""
    call = reading.trace.call(number)
    same = [
        each for each in reading.trace.calls
        if call is not None and each.where == call.where and each.module == call.module
        and each.op == call.op
    ]  # fmt: skip
    return len(same) > 1
