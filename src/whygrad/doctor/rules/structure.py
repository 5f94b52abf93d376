"""Faults of the model's structure: layers that collapse into one, outputs that ignore the input.

Both can be read off the calls of a step.  Two linear maps with nothing between them are one linear
map; a call whose input differs from sample to sample and whose result does not has lost the sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from whygrad.doctor.anatomy import (
    CONVOLUTIONS,
    Layer,
    activation_place,
    call_place,
    layers_of,
    rectifiers_of,
    squashers_of,
)
from whygrad.doctor.case import Case
from whygrad.doctor.experiments.control import control_step
from whygrad.doctor.experiments.repairs import Arms, Wrapper, repair, swapped, unlearned
from whygrad.doctor.provenance import given_inputs
from whygrad.doctor.recording.calls import Produced, RecordedCall
from whygrad.doctor.recording.record import Course, Snapshot
from whygrad.doctor.replay import Trace, Traced
from whygrad.doctor.replay.reading import Reading
from whygrad.doctor.replay.trial import Trial
from whygrad.doctor.rule import Finding, rule
from whygrad.doctor.vocabulary import ACTIVATIONS, LINEAR, RESHAPING

__all__: list[str] = []

# What leaves a linear map linear, sample by sample.
_HARMLESS = RESHAPING | frozenset(
    ("add", "add_", "sub", "mul", "div", "drop", "dropout", "batch_norm", "avg_pool1d",
     "avg_pool2d", "adaptive_avg_pool1d", "adaptive_avg_pool2d", "dropout2d", "identity")
)  # fmt: skip

_ROUNDING = 5e-6  # what some tens of operations in float32 leave


@rule(
    id="missing-nonlinearity",
    severity=2,
    title="Layers follow each other with no nonlinearity between them",
    meaning=(
        "A linear layer after a linear layer is one linear layer: however many are stacked, the "
        "model can only draw straight lines. It trains without an error and stops at what a "
        "straight line can do."
    ),
    measured=(
        "The output of a layer goes into the next one through nothing that bends it, and the layer "
        "is no bottleneck that would be there on purpose. The run did not learn; with a ReLU "
        "between them the same batch is learned with the same optimizer."
    ),
    fix="Put an activation between them: x = torch.relu(self.fc1(x)).",
    guardrail="assert not torch.allclose(model(a + b), model(a) + model(b) - model(0 * a))",
    explains=("loss-plateau", "constant-output", "lr-too-low", "class-imbalance", "under-trained",
              "oscillation", "vanishing-gradient"),
    thresholds={"better": 0.6, "part": 0.4, "far better": 0.2, "solved": 0.1, "steps": 8},
    cleared=lambda case: _all_bent(case),
)  # fmt: skip
def missing_nonlinearity(case: Case) -> Iterator[Finding]:
    for course in case.courses:
        trace = case.trace(course.first)
        if trace is None or not trace.exact or len(course.steps) < case.limit("steps"):
            continue
        pairs = _collapsing(case, trace)
        if not pairs or not unlearned(case, course, case.limit("solved")):
            continue
        relu = trace.engine.namespace.relu
        bent = swapped(trace.snapshot, {one.call.number: _followed_by(relu) for one, _ in pairs})
        poor = unlearned(case, course, case.limit("part"))
        factor = case.limit("better" if poor else "far better")
        arms = repair(case, course, trace.snapshot, factor, repaired=bent)
        if arms is None or not _finds_something(case, course, bent, arms, 1.5 if poor else 3.0):
            continue
        calls = [each.call for each in layers_of(case, trace)]
        one, other = pairs[0]
        dropped = _dropped(trace, one)
        place = call_place(case, one.call, calls) if dropped is None else dropped.where
        yield missing_nonlinearity.finding(
            where=place,
            step=0,
            confidence=0.93,
            evidence=[
                f"{one.label} {list(one.shape)} and {other.label} {list(other.shape)} follow each "
                "other directly: together they are one linear map",
                arms.told("with a ReLU between them"),
            ],
            fix=(
                f"x = torch.relu(…)  # between {one.label} and {other.label}"
                if dropped is None
                else f"x = …  # keep what {dropped.op} returns: it does not change its input"
            ),
            places=[("the next layer", call_place(case, other.call, calls))],
            parameters=[one.label, other.label],
        )
        return


def _finds_something(case: Case, course: Course, bent: Snapshot, arms: Arms, times: float) -> bool:
    """Whether a ReLU gets ``times`` lower than it would if straight lines were all there is."""
    reading = case.reading(course.first)
    if reading is None or course.last is None:
        return False
    control = control_step(reading, course.last.values, bent)
    if control is None:
        return unlearned(case, course, 2 * case.limit("part"))
    straight = Trial(course, control, case.budget).descend(steps=len(arms.repaired.losses) - 1)
    return straight is not None and straight.end > times * arms.repaired.end


def _dropped(trace: Trace, layer: Layer) -> RecordedCall | None:
    """An activation that was called on a layer's output, and whose result nobody used."""
    return next(
        (
            each
            for each in trace.snapshot.loose
            if each.op in ACTIVATIONS and Produced(layer.call.number, 0) in each.sources()
        ),
        None,
    )


def _collapsing(case: Case, trace: Trace) -> list[tuple[Layer, Layer]]:
    """Pairs of layers that are one linear map and are not there to make a bottleneck."""
    layers = layers_of(case, trace)
    by_call = {each.call.number: each for each in layers}
    learned = {id(copy) for copy in trace.parameters.values()}
    found = []
    for one in layers:
        uses = sum(each.name == one.name for each in layers)
        other = _next_layer(trace, one, by_call, learned)
        if other is None or uses > 1 or other.name == one.name:
            continue
        narrow = one.width < min(one.fan_in, other.width)
        grouped = one.call.op in CONVOLUTIONS and _groups(one.call) > 1
        grouped |= other.call.op in CONVOLUTIONS and _groups(other.call) > 1
        if not narrow and not grouped and one.width > 1:
            found.append((one, other))
    return found


def _next_layer(
    trace: Trace, layer: Layer, by_call: dict[int, Layer], learned: set[int]
) -> Layer | None:
    """The one layer that takes this one's output as it is, or None."""
    call = layer.call
    while True:
        followers = [
            each for place in range(len(call.outputs))
            for each in trace.consumers(Produced(call.number, place))
        ]  # fmt: skip
        if len(followers) != 1:
            return None
        follower = followers[0]
        known = by_call.get(follower.number)
        if known is not None:
            source = follower.sources[known.data]
            return known if source is not None and source.call == call.number else None
        if follower.op not in _HARMLESS or not _keeps_linear(follower, call, learned):
            return None
        call = follower


def _keeps_linear(call: Traced, before: Traced, learned: set[int]) -> bool:
    """Whether the other inputs are constants or learned: not the output of other layers."""
    if call.op == "drop":  # its second input is the mask that was drawn
        return True
    return all(
        source is None or source.call == before.number
        for given, source in zip(call.inputs, call.sources)
        if id(given) not in learned
    )


def _groups(call: Traced) -> int:
    return int(call.argument(6, "groups", 1) or 1)


def _followed_by(relu: Callable[..., Any]) -> Wrapper:
    return lambda inner: lambda *given, **named: relu(inner(*given, **named))


def _all_bent(case: Case) -> str | None:
    trace = case.trace(case.first)
    if trace is None or len(layers_of(case, trace)) < 2 or _collapsing(case, trace):
        return None
    return "no two layers follow each other without something nonlinear between them"


@rule(
    id="constant-output",
    severity=2,
    title="The model gives the same output for every input",
    meaning=(
        "Somewhere on its way the sample is lost: what comes out of one call is the same for all "
        "of them. Behind that point the model can only learn one answer for everything, usually "
        "the mean of the targets."
    ),
    measured=(
        "Inputs and targets of a batch differ, and the predictions are equal for all samples, at "
        "the first and at the latest recorded step. The call is named whose input still differs "
        "and whose output does not."
    ),
    fix="Look at the named call: what goes in differs between samples, what comes out does not.",
    guardrail="assert model(x).std(dim=0).max() > 1e-6  # on a batch of different samples",
    explains=("loss-plateau", "lr-too-low", "vanishing-gradient", "class-imbalance",
              "under-trained", "overfitting", "disconnected-parameter"),
    thresholds={"steps": 5},
    cleared=lambda case: _spread(case),
)  # fmt: skip
def constant_output(case: Case) -> Iterator[Finding]:
    for course in case.courses:
        if len(course.steps) < case.limit("steps"):
            continue
        begun, ended = (_unvaried(case, each) for each in (course.first, course.last))
        if begun is None or ended is None:
            continue
        call, later = (_loss_of_sample(each) for each in (begun, ended))
        if call is None or later is None:
            # Data are often prepared once: then the first step alone has the calls on its tape.
            call = later = _loss_in_data(begun)
        if call is None or later is None:
            found = _about_data(begun)
            if found is not None and _about_data(ended) is not None:
                yield found
                return
            continue
        same = call.op == later.op and call.where == later.where
        if not same or _belongs_elsewhere(begun.trace, call):
            continue
        given, result = call.before[0], call.after[0]
        yield constant_output.finding(
            where=activation_place(case, call),
            step=0,
            confidence=0.93,
            evidence=[
                f"{call.op} gets {given} and returns {result}: the same for all "
                f"{begun.prediction.shape[0]} samples of the batch",
                f"so it was at the first step and after {course.steps[-1].index} updates; the "
                "targets differ",
            ],
            fix=_advice(call),
        )
        return


def _about_data(reading: Reading) -> Finding | None:
    """The model was given the same values for every sample."""
    inputs = [each for each in reading.inputs if each.ndim and each.shape[0] > 1]
    arrays = [reading.trace.array(each) for each in inputs]
    if not arrays or not all(map(_is_constant, arrays)):
        return None
    size, low, high = inputs[0].shape[0], arrays[0].min(), arrays[0].max()
    values = f"{low:g}" if low == high else f"the same values, from {low:.3g} to {high:.3g}"
    return constant_output.finding(
        where=reading.models[0].where,
        step=0,
        confidence=0.9,
        evidence=[
            f"the model gets {values} for each of {size} samples, at the first step and later; the "
            "targets differ"
        ],
        fix=(
            "The samples are lost before the model: look at how they are prepared. Whole numbers "
            "divided with //, or fractions converted to integers, all become 0."
        ),
    )


def _unvaried(case: Case, snapshot: Snapshot | None) -> Reading | None:
    """A step whose predictions are the same for all samples, although the targets differ."""
    reading = case.reading(snapshot)
    if reading is None or reading.prediction is None or reading.target is None:
        return None
    trace = reading.trace
    prediction, target = trace.array(reading.prediction), trace.array(reading.target)
    size = prediction.shape[0] if prediction.ndim else 0
    if size < 4 or not target.ndim or target.shape[0] != size or _is_constant(target):
        return None
    return reading if _is_constant(prediction) else None


def _loss_of_sample(reading: Reading) -> Traced | None:
    """The call of a step behind which all samples are alike."""
    trace, size = reading.trace, reading.prediction.shape[0]
    call = trace.made_by(reading.prediction_source)
    while call is not None:
        if any(map(partial(_differs, trace, size), call.inputs, call.sources)):
            return call
        call = next(
            (
                made
                for each in call.sources
                if (made := trace.made_by(each)) is not None and _is_of_samples(trace, made, size)
            ),
            None,
        )
    return None


def _loss_in_data(reading: Reading) -> Traced | None:
    """The call that made samples alike before the model got them, in one go or one by one."""
    trace = reading.trace
    for source, given in given_inputs(reading):
        if source is None or not given.ndim or not _is_constant(trace.array(given)):
            continue
        group = [trace.made_by(source)]
        while group and all(each is not None and each.inputs for each in group):
            calls = [each for each in group if each is not None]
            if calls[0].op == "stack" and len(calls) == 1:
                group = [trace.made_by(each) for each in calls[0].sources]
                continue
            if len({id(each.inputs[0]) for each in calls}) == 1:
                calls = calls[:1]
            arrays = [trace.array(each.inputs[0]) for each in calls]
            if any(each.shape != arrays[0].shape for each in arrays):
                break
            varied = arrays[0] if len(calls) == 1 else np.stack(arrays)
            if varied.ndim and not _is_constant(varied):
                return calls[0]
            group = [trace.made_by(each.sources[0]) for each in calls]
    return None


def _is_of_samples(trace: Trace, call: Traced, size: int) -> bool:
    """Whether something in the past of a call differs between samples."""
    past = trace.ancestors(call) | {call.number}
    return any(
        _differs(trace, size, given, source)
        for each in trace.calls
        if each.number in past
        for given, source in zip(each.inputs, each.sources)
    )


def _differs(trace: Trace, size: int, tensor: Any, source: Produced | None) -> bool:
    """Whether a tensor has one entry a sample, and they are not all the same."""
    array = trace.array(tensor)
    data = not tensor.requires_grad or not tensor.is_leaf
    made = trace.made_by(source)
    # What is left of a sum that cancels out is rounding, small against what was added up.
    sums = made is not None and made.op in ("mean", "sum", "adaptive_avg_pool2d", "avg_pool2d")
    scale = float(np.abs(trace.array(made.inputs[0])).max(initial=0.0)) if made and sums else 0.0
    return data and array.ndim > 0 and array.shape[0] == size and not _is_constant(array, scale)


def _is_constant(array: np.ndarray[Any, Any], scale: float = 0.0) -> bool:
    values = array.astype(np.float64)
    if not np.isfinite(values).all():
        return False
    scale = max(scale, float(np.abs(values).max(initial=0.0)))
    return bool(np.ptp(values, axis=0).max(initial=0.0) <= _ROUNDING * scale)


def _belongs_elsewhere(trace: Trace, call: Traced) -> bool:
    """Dead and saturated activations and weights without effect have rules of their own."""
    own = call in rectifiers_of(trace) or call in squashers_of(trace)
    return own or call.op in LINEAR or call.op in ("softmax", "log_softmax")


def _advice(call: Traced) -> str:
    if call.op in ("layer_norm", "rms_norm", "group_norm", "instance_norm"):
        return (
            f"{call.op} subtracts the mean over the features of each sample. Over a single feature "
            "nothing is left: normalise over the data set instead, (x - x.mean()) / x.std()."
        )
    if call.op in ("mean", "sum"):
        return (
            f"What {call.op} adds up cancels out in every sample, as behind a layer that subtracts "
            "the mean of each sample. Take that normalisation out, or let an activation follow it."
        )
    if call.op in ("cast", "to", "type", "long", "int", "byte"):
        return (
            "The conversion cuts off everything behind the point: scale before you convert "
            "((255 * x).to(torch.uint8)), or keep floating-point numbers."
        )
    return constant_output.fix


def _spread(case: Case) -> str | None:
    reading = case.reading(case.first)
    if reading is None or reading.prediction is None:
        return None
    prediction = reading.trace.array(reading.prediction)
    if prediction.ndim == 0 or prediction.shape[0] < 2 or prediction.dtype.kind != "f":
        return None
    return f"outputs differ by up to {float(np.ptp(prediction, axis=0).max()):.2g} within a batch"
