"""Activations that let no gradient through: dead ones and saturated ones.

What a unit does is read off the replayed steps: which outputs are zero for every sample, how far
out on its flat end an activation works.  Whether that is what keeps the run from learning is
decided by training the same step with another activation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from whygrad.doctor.evidence.anatomy import (
    Layer,
    activation_place,
    layers_of,
    origin,
    rectifiers_of,
    size_of,
    squashers_of,
    units_of,
)
from whygrad.doctor.evidence.case import Case
from whygrad.doctor.experiments.changes import mended
from whygrad.doctor.experiments.remedies import Remedy
from whygrad.doctor.experiments.repairs import repair, unlearned
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.rules.words import few, listed
from whygrad.ops.families import ADD, CONVOLUTIONS, DROPOUTS, NORMALIZERS, RESHAPING, SCALINGS
from whygrad.recording.record import Course
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.recipes import Wrapper, swapped, tensor_like
from whygrad.source import Where

__all__: list[str] = []

_PASSING = RESHAPING | NORMALIZERS | ADD | SCALINGS | DROPOUTS


@rule(
    thresholds={
        "dead": (0.5, "of a layer's units: the other half may carry it"),
        "better": (0.5, "of the loss that is reached with a leaky slope"),
        "part": (0.3, "of what ignoring the input costs: below it the run learned"),
        "steps": (5, "updates: fewer do not show whether units come back"),
        "start": (0.9, "of the dead ones were so at the first step"),
        "leak": (0.1, "slope below zero in the experiment"),
        "samples": (8, "in the latest steps: of fewer, none may happen to need a unit"),
        "updates": (4, "without any gradient, where the latest steps have fewer samples"),
    },
    cleared=lambda case: _most_dead(case),
)
def dead_relu(case: Case, course: Course) -> Iterator[Finding]:
    """ReLU units are zero for every input.

    A ReLU whose input is negative for all samples outputs zero for all of them, and its slope
    there is zero too. No gradient passes, so the weights before it never change and the unit
    never comes back.

    Measured: Units that are exactly zero for every sample of the two latest recorded batches.
    All units of a layer, or at least half of them if a leaky slope in their place makes the
    same batch learnable. In batches of one or a few: all units, and the weights before them had
    no gradient at any of the latest updates.
    Fix: Start with biases at 0 and weights from nn.init.kaiming_normal_; or use nn.LeakyReLU.
    Guardrail: assert (hidden > 0).any(dim=0).float().mean() > 0.1  # units that are ever active
    """
    if len(course.steps) < case.limit("steps") or course.last is None:
        return
    if not unlearned(case, course, case.limit("part")):
        return
    traces = _traces(case, course)
    if not traces:
        return
    late, latest = traces[-1], traces[1:] or traces
    dead = [
        (call, mask)
        for place, call in enumerate(rectifiers_of(late))
        if (mask := _dead_in(latest, place)).mean() >= case.limit("dead")
        and (
            _samples(latest, place) >= case.limit("samples")
            or (mask.all() and _never_moved(case, course, late, call))
        )
    ]
    bad = [each for each in dead if _is_inner(case, late, each[0])]
    whole = [each for each in bad if each[1].all()]
    if not bad:
        return
    proof = None
    if not whole:
        leaky = _leaky(case.limit("leak"))
        other = swapped(course.last, {each.number: leaky for each, _ in bad})
        arms = repair(case, course, course.last, case.limit("better"), repaired=other)
        if arms is None:
            return
        proof = arms.told("with a leaky slope in place of the ReLU")
    yield _about_dead(case, course, traces, whole or bad, proof)


def _about_dead(
    case: Case,
    course: Course,
    traces: list[Trace],
    bad: list[tuple[Traced, np.ndarray[Any, Any]]],
    proof: str | None,
) -> Finding:
    late = traces[-1]
    call, mask = bad[0]
    place = rectifiers_of(late).index(call)
    early = _dead_in(traces[:1], place)
    from_start = bool(early.mean() >= case.limit("start") * mask.mean())
    line = activation_place(case, call)
    before = call.before[0]
    silent = [
        each.label
        for each in layers_of(case, late)
        if late.descends(call, each.call) and not _moves(late, each)
    ]
    bias = _pushing_bias(case, traces[0], place) if from_start else None
    return dead_relu.finding(
        f"{int(mask.sum())} of {mask.size} units behind {call.op} are zero for all samples of "
        f"{len(traces)} recorded batches{', the first included' if from_start else ''}",
        f"what goes into it lies between {before.low:.3g} and {before.high:.3g}",
        f"the gradient of {listed(silent)} is exactly zero" if silent else None,
        proof,
        where=bias or line,
        step=0 if from_start else _since(course, case.limit("start") * float(mask.mean())),
        proof=Proof.REPLAYED if mask.all() else Proof.TRIED,
        fix=(
            "Let the biases start at 0: with this one every unit is below zero for every input."
            if bias
            else dead_relu.fix
            if from_start
            else "The units were alive at first: an update threw them out. Use a smaller learning "
            "rate or clip the gradients; nn.LeakyReLU lets units come back."
        ),
        places=[("the activation", line)] if bias else [],
        remedy=_alive_again(case, traces[0], [each for each, _ in bad]),
    )


def _alive_again(case: Case, trace: Trace, dead: list[Traced]) -> Remedy:
    """The first step with a leaky slope in the place of the activations that died."""
    lines = {(each.where, each.module) for each in dead}
    same = [each.number for each in rectifiers_of(trace) if (each.where, each.module) in lines]
    return mended(trace.snapshot, dict.fromkeys(same, _leaky(case.limit("leak"))))


def _traces(case: Case, course: Course) -> list[Trace]:
    """The replays of the first and the two latest recorded steps that have the same activations."""
    found: list[Trace] = []
    for snapshot in (course.first, course.earlier, course.last):
        trace = case.trace(snapshot)
        if trace is not None and all(trace is not each for each in found):
            found.append(trace)
    shape = [each.op for each in rectifiers_of(found[-1])] if found else []
    return [each for each in found if [call.op for call in rectifiers_of(each)] == shape]


def _dead_in(traces: list[Trace], place: int) -> np.ndarray[Any, Any]:
    """Which units of an activation are zero in all of these steps."""
    found: Any = None
    for trace in traces:
        call = rectifiers_of(trace)[place]
        array = trace.array(call.outputs[0])
        if not array.ndim:
            return np.zeros(1, dtype=bool)
        rows = units_of(array, _is_convolved(trace, call))
        mask = ~rows.any(axis=1)
        found = mask if found is None or found.shape != mask.shape else found & mask
    return np.zeros(1, dtype=bool) if found is None else np.asarray(found)


def _samples(traces: list[Trace], place: int) -> int:
    """How many rows went through an activation in these steps."""
    arrays = [each.array(rectifiers_of(each)[place].outputs[0]) for each in traces]
    return sum(len(each) if each.ndim > 1 else 1 for each in arrays)


def _never_moved(case: Case, course: Course, trace: Trace, call: Traced) -> bool:
    """Whether the layers before an activation had no gradient at the latest updates."""
    names = {each.name for each in layers_of(case, trace) if trace.descends(call, each.call)}
    known = {id(each.tensor): each.name for each in course.parameters}
    before = [known[each] for each in names if each in known]
    measured: dict[int, bool] = {}
    for step in course.steps[::-1]:
        still = all(not step.gradients.get(each) for each in before)
        measured.setdefault(id(step.gradients), still)
        if len(measured) >= case.limit("updates"):
            break
    return bool(before) and len(measured) >= case.limit("updates") and all(measured.values())


def _is_convolved(trace: Trace, call: Traced) -> bool:
    made = origin(trace, call, RESHAPING | NORMALIZERS)
    return made is not None and made.op in CONVOLUTIONS


def _is_inner(case: Case, trace: Trace, call: Traced) -> bool:
    """Whether a layer comes after it; an output may be zero where the targets are not negative."""
    if any(
        each.call is not call and trace.descends(each.call, call) for each in layers_of(case, trace)
    ):
        return True
    reading = case.reading(trace.snapshot)
    if reading is None or reading.target is None:
        return False
    target = trace.array(reading.target)
    return bool(target.size and target.min() >= 0 and target.max() > 0)


def _moves(trace: Trace, layer: Layer) -> bool:
    gradient = trace.gradients.get(layer.name)
    return gradient is not None and bool(gradient.any())


def _pushing_bias(case: Case, trace: Trace, place: int) -> Where | None:
    """The line of the bias without which some of the dead units would be active at the start."""
    call = rectifiers_of(trace)[place]
    made = origin(trace, call, _PASSING)
    for layer in layers_of(case, trace):
        if layer.call is made and layer.bias is not None and layer.bias.written_at is not None:
            bias = trace.array(trace.snapshot.values[id(layer.bias.tensor)]).ravel()
            given = trace.array(call.inputs[0])
            if bias.max() < 0 and given.shape[-1] == bias.size and (given - bias).max() > 0:
                return layer.bias.written_at
    return None


def _since(course: Course, part: float) -> int:
    """The first sampled step with this part of some layer dead."""
    for step in course.steps:
        if step.sample and any(each.dead >= part for each in step.sample.layers.values()):
            return step.index
    return 0


def _leaky(leak: float) -> Wrapper:
    def wrapper(inner: Callable[..., Any]) -> Callable[..., Any]:
        def leaky(given: Any, *rest: Any, **named: Any) -> Any:
            return inner(given, *rest, **named) + leak * (given - abs(given)) / 2

        return leaky

    return wrapper


def _most_dead(case: Case) -> str | None:
    found = [
        each.dead
        for course in case.courses
        for step in course.steps[-1:]
        if step.sample
        for each in step.sample.layers.values()
        if each.kind == "relu"
    ]
    return (
        f"at most {max(found):.0%} of a layer's ReLU units were silent at the end"
        if found and max(found) < case.limit("dead")
        else None
    )


@rule(
    thresholds={
        "saturated": (0.5, "of its inputs at the flat ends: the others may carry it"),
        "better": (0.5, "of the loss that is reached with centred inputs"),
        "far better": (0.3, "the same, where random features carried the run some way"),
        "part": (0.3, "of what ignoring the input costs: below it the run got some way"),
        "solved": (0.1, "of the same: below it there is nothing to explain"),
        "steps": (8, "updates: fewer do not show whether it learns"),
        "reach": (5.0, "input beyond which a sigmoid's slope is below one per cent"),
    },
    cleared=lambda case: _most_saturated(case),
)
def saturated_activation(case: Case, course: Course) -> Iterator[Finding]:
    """Sigmoid or tanh units work at their flat ends.

    Far from zero a sigmoid or tanh is flat: its output is always the same and its slope almost
    zero. What lies before it gets next to no gradient, although the layers after it may go on
    learning.

    Measured: At the first step most inputs of an activation lie beyond ±5, where its slope is
    below one per cent. With the same inputs centred and brought to size two, the same batch is
    learned with the same optimizer.
    Fix: Bring what goes into the activation to size one: no steep factor, scaled inputs, a
    norm.
    Guardrail: assert (pre_activation.abs() > 5).float().mean() < 0.5
    """
    trace = case.trace(course.first)
    if trace is None or not trace.reproduced or len(course.steps) < case.limit("steps"):
        return
    layers = layers_of(case, trace)
    flat = [
        (call, part)
        for call in squashers_of(trace)
        if (part := _beyond(case, trace, call)) >= case.limit("saturated")
        and any(trace.descends(each.call, call) for each in layers)
        and any(trace.descends(call, each.call) for each in layers)
    ]
    if not flat or not unlearned(case, course, case.limit("solved")):
        return
    # Random features behind a flat activation may carry a run some way: then more is asked.
    poor = unlearned(case, course, case.limit("part"))
    factor = case.limit("better" if poor else "far better")
    repaired = swapped(trace.snapshot, {call.number: _at_home(trace, call) for call, _ in flat})
    arms = repair(case, course, trace.snapshot, factor, repaired=repaired)
    if arms is None:
        return
    call, part = flat[0]
    size = size_of(call.before[0])
    yield saturated_activation.finding(
        f"{part:.0%} of the inputs of {call.op} lie beyond ±5 at the first step; their "
        f"size is {size:.3g}",
        arms.told("with these inputs centred and brought to size two"),
        where=activation_place(case, call),
        proof=Proof.TRIED,
        fix=(
            f"The input of this {call.op} has size {size:.3g}. Divide it by about that much, "
            "drop the factor that makes it so steep, or put nn.LayerNorm before it."
        ),
        places=[("also here", activation_place(case, each)) for each, _ in few(flat[1:])],
    )


def _beyond(case: Case, trace: Trace, call: Traced) -> float:
    """The part of an activation's inputs that are on its flat ends."""
    reach = 1.0 if call.op.startswith("hard") else case.limit("reach")
    return float(np.mean(np.abs(trace.array(call.inputs[0])) > reach))


def _at_home(trace: Trace, call: Traced) -> Wrapper:
    """The activation with its inputs moved to where it bends: by unit, around zero, of size two."""
    array = trace.array(call.inputs[0])
    others = tuple(range(array.ndim - 1))
    middle = tensor_like(trace.engine, array.mean(axis=others))
    size = float(np.std(array - array.mean(axis=others)) / 2) or 1.0

    def wrapper(inner: Callable[..., Any]) -> Callable[..., Any]:
        return lambda given, *rest, **named: inner((given - middle) / size, *rest, **named)

    return wrapper


def _most_saturated(case: Case) -> str | None:
    trace = case.trace(case.first)
    found = [] if trace is None else [_beyond(case, trace, each) for each in squashers_of(trace)]
    if not found or max(found) >= case.limit("saturated"):
        return None
    return f"at most {max(found):.0%} of sigmoid or tanh inputs lay beyond ±5"
