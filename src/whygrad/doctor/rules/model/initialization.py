"""Initial weights that keep a model from learning: of a wrong size, or all the same.

Both are seen in the state before the first update.  That weights are unusual is no fault yet
(last layers are often set to zero on purpose), so the model is also trained again from ordinary
weights: only if that makes the difference were the initial ones to blame.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from whygrad.doctor.evidence.anatomy import Layer, layers_of, rectifiers_of
from whygrad.doctor.evidence.case import Case
from whygrad.doctor.experiments.rehearsal import OUTDONE, REHEARSED, outdone
from whygrad.doctor.experiments.repairs import Arms, fresh_weights, level, repair, unlearned
from whygrad.doctor.rules.model.written import (
    from_own_values,
    never_caught_up,
    rehearsed_from,
    written_at,
)
from whygrad.doctor.rules.model.zeros import stuck_at_zero
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.rules.words import as_code, listed
from whygrad.recording.record import Course, Parameter
from whygrad.recording.replay import Trace
from whygrad.recording.replay.recipes import tensor_like
from whygrad.recording.replay.trainer import is_below

__all__: list[str] = []


@rule(
    thresholds={
        **REHEARSED,
        "slower": (0.1, "of the rate, where ordinary values do not stand the run's own"),
        "steps": (5, "updates in which units could have become different"),
        "random": (0.1, "size of values that are tried in the place of zeros"),
        "better": (0.8, "of the loss, with random weights; half of it if units differ by now"),
        "part": (0.2, "of what ignoring the input costs: below it the width was not needed"),
        "alike": (1e-7, "of the largest weight: rows that differ by less are the same"),
        "digits": (4, "to which rows at the end are compared"),
        "sets": (0.25, "as many different rows as units at most: they are still alike"),
        "hopeless": (0.95, "of what ignoring the input costs: no experiment is needed"),
    },
    cleared=lambda case: _all_different(case),
)
def symmetric_initialization(case: Case, course: Course) -> Iterator[Finding]:
    """All units of a layer start the same and stay the same.

    Units with equal weights compute the same number, so they get the same gradient and the same
    update. However wide the layer is, it works like a single unit, for ever. Random initial
    weights are what makes units different.

    Measured: The rows of a weight are equal before the first update, and they are still equal
    at the end, although the layer was trained. The same model with random weights does better
    on the same batch with the same optimizer; where layers are recurrent, attend or look up, in a
    short training from the library's own values. Or parameters are zero from the first step to the
    last with gradients of exactly zero, and get others as soon as one of them is random.
    Fix: Start from random weights: nn.init.kaiming_normal_(layer.weight); only biases may be 0.
    Guardrail: assert all(p.std() > 0 for p in model.parameters() if p.dim() > 1)
    """
    trace = case.trace(course.first)
    if trace is None or len(course.steps) < case.limit("steps") or course.last is None:
        return
    zero = stuck_at_zero(case, course)
    if zero:
        yield _about_zeros(course, zero)
        return
    if not unlearned(case, course, case.limit("part")):
        return
    twins = [
        each for each in _hidden(case, trace, course) if _alike(each, trace, case.limit("alike"))
    ]
    if not twins:
        yield from from_own_values(case, course, trace, symmetric_initialization, flat=True)
        return
    most = case.limit("sets")
    still = [each for each in twins if _distinct(case, each, course) <= max(1, most * each.width)]
    sets = _distinct(case, still[0], course) if still else 0
    every = _unusual(layers_of(case, trace), trace, lowest=0.0, highest=math.inf) + twins
    start = fresh_weights(trace.snapshot, _once(every), _gain(trace))
    factor = case.limit("better") if still else case.limit("better") / 2
    arms = repair(case, course, trace.snapshot, factor, start=start)
    # A layer that is one unit to the end, in a run that wanted more, needs no experiment.
    if (
        arms is None
        and sets != 1
        and not (still and unlearned(case, course, case.limit("hopeless")))
    ):
        yield from from_own_values(
            case, course, trace, symmetric_initialization, flat=True, long=True
        )
        return
    layer = (still or twins)[0]
    value = float(layer.weight(trace.snapshot).flat[0])
    yield symmetric_initialization.finding(
        f"{layer.label} {list(layer.shape)}: before the first update every unit has the same "
        f"weights ({value:.3g} …)",
        f"after {len(course.steps)} updates the {layer.width} units have "
        f"{'one set' if sets == 1 else f'{sets} sets'} of weights between them"
        if still
        else None,
        None if arms is None else arms.told("from random weights"),
        where=layer.parameter.written_at or layer.parameter.made_at,
        proof=Proof.TRIED if arms is not None else Proof.INFERRED,
        fix=f"nn.init.kaiming_normal_({_as_code(layer)})  # in place of {value:.3g} everywhere",
        parameters=[each.label for each in twins],
    )


def _about_zeros(course: Course, zero: list[Parameter]) -> Finding:
    names = [each.name for each in zero]
    return symmetric_initialization.finding(
        f"{listed(names)} {'is' if len(names) == 1 else 'are'} zero before the first update and "
        f"after {len(course.steps)}: each gets a gradient of exactly 0, because it is multiplied "
        "by others that are zero",
        "with random values in the place of one of them, the others get a gradient in the same "
        "step",
        where=zero[0].written_at or zero[0].made_at,
        proof=Proof.REPLAYED,
        fix=f"Draw them at random: nn.init.normal_({names[0]}, std=0.1)"
        + (f", and so for {listed(names[1:])}. " if names[1:] else ". ")
        + "Of factors that are multiplied at most one may begin at zero.",
        parameters=names,
        title="Parameters start at zero and can never leave it",
    )


def _hidden(case: Case, trace: Trace, course: Course) -> list[Layer]:
    """Trained layers whose output goes into another layer."""
    layers = layers_of(case, trace)
    trained = {id(each.tensor) for each in course.parameters}
    return [
        each
        for each in layers
        if each.name in trained
        and each.width > 1
        and any(other is not each and trace.descends(other.call, each.call) for other in layers)
    ]


def _alike(layer: Layer, trace: Trace, rounding: float) -> bool:
    rows = layer.weight(trace.snapshot)
    return rows.shape[1] > 0 and bool(np.ptp(rows, axis=0).max() <= rounding * np.abs(rows).max())


def _distinct(case: Case, layer: Layer, course: Course) -> int:
    """How many different rows the weight has at the end, up to rounding."""
    assert course.last is not None
    rows = layer.weight(course.last).astype(np.float64)
    scale = np.abs(rows).max() or 1.0
    return len(np.unique(np.round(rows / scale, int(case.limit("digits"))), axis=0))


def _all_different(case: Case) -> str | None:
    trace = case.trace(case.first)
    layers = [] if trace is None else layers_of(case, trace)
    wide = [each for each in layers if each.width > 1]
    same = [trace is None or _alike(each, trace, case.limit("alike")) for each in wide]
    if not layers or any(same):
        return None
    count = len({each.name for each in layers})
    return f"no two units of a layer begin with the same weights (layers: {count})"


@rule(
    thresholds={
        "steps": (8, "updates: fewer do not show whether it learns"),
        **REHEARSED,
        **OUTDONE,
        "slower": (0.1, "of the rate, where ordinary values do not stand the run's own"),
        "lowest": (0.1, "times the input: below it nothing arrives after a few layers"),
        "highest": (3.0, "times the input: above it a few layers make it enormous"),
        "low": (0.4, "times the input, in one of many layers: a library's own are above"),
        "high": (2.2, "times the input, in one of many layers"),
        "faint": (0.01, "of the input, that all of these together let through"),
        "better": (0.5, "of the loss that is reached with ordinary weights"),
        "part": (0.3, "of what ignoring the input costs: below it the run learned"),
        "updates": (100, "of the experiment: one batch may be learned by heart in more"),
        "above": (1.5, "times what ignoring the input costs: far from it at the end"),
        "start": (5, "times that in the beginning: the weights alone can do that"),
        "nothing": (0.9, "of what ignoring the input costs: no better than that, at the end"),
        "smaller": (0.1, "of the first weights, whatever layers they belong to"),
    },
    cleared=lambda case: _gains(case),
)
def bad_initialization(case: Case, course: Course) -> Iterator[Finding]:
    """The initial weights have a wrong size.

    Each layer multiplies the size of what passes through it by the size of its weights times
    the root of the number of its inputs. Far above one, outputs and gradients are enormous
    before the first update; far below one, nothing of the input arrives at the output, and
    nothing of the error comes back.

    Measured: At step 0 a layer makes its input several times larger or smaller. The same model
    with ordinary weights, of size 1/sqrt(inputs), learns the same batch with the same optimizer
    where the run did not; or, on batches that it has not seen, gets far below where the whole run
    ended in a short training, also of a run that learned most of it.
    Fix: Use the layers' own initial values, or nn.init.kaiming_normal_ / xavier_uniform_.
    Guardrail: assert 0.1 < model(x).std() < 10  # before training
    """
    trace = case.trace(course.first)
    if trace is None or not trace.reproduced or len(course.steps) < case.limit("steps"):
        return
    lowest, highest = case.limit("lowest"), case.limit("highest")
    trained = {id(each.tensor) for each in course.parameters}
    layers = [each for each in layers_of(case, trace) if each.name in trained]
    unusual = _once([*_unusual(layers, trace, lowest, highest), *_stacked(case, layers, trace)])
    if not (case.progress(course).broken or unlearned(case, course, case.limit("part"))):
        yield from _outdone(case, course, trace, unusual)
        return
    # A short training costs less than learning a batch by heart twice, and shows more.
    found = list(never_caught_up(case, course, trace, bad_initialization))
    found = found or list(from_own_values(case, course, trace, bad_initialization, flat=False))
    found = found or list(_of_layers(case, course, trace, unusual) if unusual else ())
    found = found or list(
        from_own_values(case, course, trace, bad_initialization, flat=False, long=True)
    )
    found = found or list(_of_any_kind(case, course, trace))
    yield from found or _thrown_off(case, course, trace, unusual)


def _thrown_off(
    case: Case, course: Course, trace: Trace, unusual: list[Layer]
) -> Iterator[Finding]:
    """A run that began far above a guess, and ended at one: its first updates undid the model.

    One pass forward with ordinary weights shows that only the weights made it begin there.
    """
    chance, end = level(case, course), case.progress(course).end
    large = [each for each in unusual if _strength(each, trace) > case.limit("highest")]
    if chance is None or not large or end < case.limit("nothing") * chance:
        return
    if not trace.loss > case.limit("start") * chance:
        return
    start = fresh_weights(trace.snapshot, large, _gain(trace))
    ordinary = trace.again(values={**trace.snapshot.values, **start}, backward=False)
    if ordinary.error is None and ordinary.loss <= case.limit("above") * chance:
        yield _about_size(
            case,
            course,
            trace,
            large,
            trace.loss,
            f"with ordinary weights the first batch costs {ordinary.loss:.4g} in place of "
            f"{trace.loss:.4g}; from there the run got to {end:.4g}, no better than a guess",
            Proof.REPLAYED,
        )


def _of_any_kind(case: Case, course: Course, trace: Trace) -> Iterator[Finding]:
    """Values that are usual for a layer and too large for this model, as factors of a product."""
    chance, progress = level(case, course), case.progress(course)
    if chance is None or not trace.loss > case.limit("start") * chance:
        return
    if not min(progress.end, progress.latest) > case.limit("above") * chance:
        return
    if any(step.clips for step in course.steps):
        return  # what is clipped, and why, is another question
    values, part = trace.snapshot.values, case.limit("smaller")
    arrays = {
        each: trace.engine.array(values[id(each.tensor)])
        for each in course.parameters
        if id(each.tensor) in values and each.tensor.ndim > 1
    }
    start = {
        id(each.tensor): tensor_like(trace.engine, (part * array).astype(array.dtype))
        for each, array in arrays.items()
    }
    told = rehearsed_from(case, course, start, f"from {part:g} of the first weights")
    if told is not None:
        largest = max(arrays, key=lambda each: float(np.abs(arrays[each]).mean()))
        yield bad_initialization.finding(
            f"the first loss was {trace.loss:.4g}; an answer that ignores the input costs "
            f"{chance:.4g}, and the run ends at {progress.end:.4g}",
            f"the largest first weights are those of {largest.name} {[*arrays[largest].shape]}, "
            f"of size {float(np.sqrt(np.mean(arrays[largest] ** 2))):.3g}",
            told,
            where=written_at(list(arrays), largest),
            proof=Proof.TRIED,
            fix=f"Begin smaller: nn.init.normal_({largest.name}, std="
            f"{part * float(arrays[largest].std()):.2g})",
            parameters=[largest.name],
        )


def _of_layers(case: Case, course: Course, trace: Trace, unusual: list[Layer]) -> Iterator[Finding]:
    start = fresh_weights(trace.snapshot, unusual, _gain(trace))
    arms = repair(case, course, trace.snapshot, case.limit("better"), start=start)
    # One batch may be learned by heart from any weights, where the run was far from it.
    arms = arms or _arms(case, course, trace, start)
    if arms is None:
        yield from _in_a_rehearsal(case, course, trace, unusual, start)
        return
    learns = is_below(arms.repaired.end, case.limit("better"), arms.repaired.start)
    learns &= arms.helps(case.limit("better"))
    if not learns and not _starts_hopeless(case, arms, level(case, course)):
        return  # ordinary weights only start lower: they do not learn either
    yield _about_size(
        case, course, trace, unusual, arms.as_it_was.start, arms.told("from ordinary weights")
    )


def _stacked(case: Case, layers: list[Layer], trace: Trace) -> list[Layer]:
    """Layers each of which is a little off, and that are far off one behind the other."""
    gains = {each.name: _strength(each, trace) for each in layers}
    low, high = case.limit("low"), case.limit("high")
    small = [each for each in _once(layers) if gains[each.name] < low]
    large = [each for each in _once(layers) if gains[each.name] > high]
    for group, far in ((small, case.limit("faint")), (large, 1 / case.limit("faint"))):
        product = math.prod(gains[each.name] for each in group)
        if len(group) > 1 and (product < far if group is small else product > far):
            return group
    return []


def _in_a_rehearsal(
    case: Case, course: Course, trace: Trace, unusual: list[Layer], start: dict[int, Any]
) -> Iterator[Finding]:
    """A run that learned a part of what a few updates from ordinary weights learn."""
    told = rehearsed_from(case, course, start, "from ordinary weights")
    if told is not None:
        yield _about_size(case, course, trace, unusual, trace.loss, told)


def _outdone(case: Case, course: Course, trace: Trace, unusual: list[Layer]) -> Iterator[Finding]:
    """A run that learned most of it, and that a few updates from ordinary weights leave behind.

    Or one that began hopelessly: it may have learned its own samples only.
    """
    if len(unusual) < 2:  # one of many may be meant to be so
        return
    start, chance = fresh_weights(trace.snapshot, unusual, _gain(trace)), level(case, course)
    found = outdone(case, course, start=start)
    told = None if found is None else found[0].told(found[1], "from ordinary weights")
    if told or (chance is not None and trace.loss > case.limit("start") * chance):
        yield _about_size(case, course, trace, unusual, trace.loss, told)


def _arms(case: Case, course: Course, trace: Trace, start: dict[int, Any]) -> Arms | None:
    """Training from these weights beside a run that ended far above what ignoring costs."""
    reference, progress = level(case, course), case.progress(course)
    reached = min(progress.end, progress.latest)
    if reference is None or not reached > case.limit("above") * reference:
        return None
    steps = min(int(case.limit("updates")), len(course.steps))
    repaired = case.descend(course, trace.snapshot, steps=steps, start=start)
    as_it_was = case.descend(course, trace.snapshot, steps=steps)
    if repaired is None or as_it_was is None:
        return None
    return Arms(as_it_was, repaired, reached)


def _starts_hopeless(case: Case, arms: Arms, chance: float | None) -> bool:
    """Far above the loss of ignoring the input at first, and still above it at the end."""
    if chance is None:
        return False
    return (
        arms.as_it_was.start > case.limit("start") * chance
        and arms.reached > chance > arms.repaired.end
    )


def _about_size(
    case: Case,
    course: Course,
    trace: Trace,
    unusual: list[Layer],
    first: float,
    tried: str | None,
    proof: Proof = Proof.TRIED,
) -> Finding:
    worst = max(
        unusual, key=lambda each: abs(math.log10(_strength(each, trace) + sys.float_info.epsilon))
    )
    gain = _strength(worst, trace)
    rows = worst.weight(trace.snapshot)
    usual = 1 / math.sqrt(worst.fan_in)
    reference = level(case, course)
    return bad_initialization.finding(
        f"{worst.label} {list(worst.shape)} begins with values of size "
        f"{float(np.sqrt(np.mean(rows**2))):.3g} and mean {float(rows.mean()):.2g}; with "
        f"{worst.fan_in} inputs {usual:.2g} is usual: it makes its input about {gain:.2g} times "
        "as large",
        tried,
        f"the first loss was {first:.4g}; an answer that ignores the input costs {reference:.4g}"
        if reference is not None and first > case.limit("start") * reference
        else None,
        where=written_at([each.parameter for each in unusual], worst.parameter),
        proof=Proof.INFERRED if tried is None else proof,
        fix=f"nn.init.kaiming_normal_({_as_code(worst)})  "
        f"# standard deviation {usual * math.sqrt(2):.2g}"
        if len(unusual) == 1
        else f"nn.init.kaiming_normal_(layer.weight)  # for each of these {len(unusual)} layers: "
        f"{listed(each.label for each in unusual)}",
        parameters=[each.label for each in unusual],
    )


def _as_code(layer: Layer) -> str:
    return layer.label if layer.parameter.module is None else as_code(layer.label)


def _unusual(layers: list[Layer], trace: Trace, lowest: float, highest: float) -> list[Layer]:
    found = [each for each in layers if not lowest <= _strength(each, trace) <= highest]
    if lowest == 0.0:  # all that have no variety at all
        found = [each for each in layers if np.ptp(each.weight(trace.snapshot)) == 0]
    return _once(found)


def _once(layers: list[Layer]) -> list[Layer]:
    """One layer a weight: a weight may be used many times in a step."""
    return list({each.name: each for each in layers}.values())


def _strength(layer: Layer, trace: Trace) -> float:
    """By how much the layer enlarges its input: for scattered ones, and for those of one sign."""
    rows = layer.weight(trace.snapshot).astype(np.float64)
    scattered = float(np.sqrt(np.mean(rows**2))) * math.sqrt(layer.fan_in)
    return max(scattered, abs(float(rows.mean())) * layer.fan_in / 2)


def _gain(trace: Trace) -> float:
    """The usual gain for this model's activations."""
    return math.sqrt(2) if rectifiers_of(trace) else 1.0


def _gains(case: Case) -> str | None:
    trace = case.trace(case.first)
    layers = [] if trace is None else layers_of(case, trace)
    if trace is None or not layers:
        return None
    gains = [_strength(each, trace) for each in layers]
    if not case.limit("lowest") <= min(gains) <= max(gains) <= case.limit("highest"):
        return None
    return f"the first weights make inputs {min(gains):.2g} to {max(gains):.2g} times as large"
