"""Layers that collapse into one: two linear maps with nothing between them are one linear map."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from whygrad.doctor.evidence.anatomy import (
    Layer,
    call_place,
    layers_of,
)
from whygrad.doctor.evidence.case import Case
from whygrad.doctor.experiments.control import control_step
from whygrad.doctor.experiments.repairs import Arms, repair, unlearned
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced, RecordedCall
from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.recipes import Wrapper, swapped
from whygrad.recording.replay.trial import Trial

__all__: list[str] = []

# What leaves a linear map linear, sample by sample.
_HARMLESS = ops.BATCH_NORM | (
    ops.RESHAPING
    | ops.ADD
    | ops.SUB
    | ops.SCALINGS
    | ops.DROPOUTS
    | ops.BATCH_NORM
    | ops.AVERAGE_POOLS
)


@rule(
    thresholds={
        "better": (0.6, "of the loss that is reached with a ReLU, where little was learned"),
        "part": (0.4, "of what ignoring the input costs: above it little was learned"),
        "far better": (0.2, "of the loss, where something was learned"),
        "solved": (0.1, "of what ignoring the input costs: below it straight lines will do"),
        "steps": (8, "updates: fewer do not show whether it learns"),
        "bend": (1.5, "times higher on a control that is all straight lines"),
        "far bend": (3, "the same, where something was learned"),
    },
    cleared=lambda case: _all_bent(case),
)
def missing_nonlinearity(case: Case, course: Course) -> Iterator[Finding]:
    """Layers follow each other with no nonlinearity between them.

    A linear layer after a linear layer is one linear layer: however many are stacked, the model
    can only draw straight lines. It trains without an error and stops at what a straight line
    can do.

    Measured: The output of a layer goes into the next one through nothing that bends it, and
    the layer is no bottleneck that would be there on purpose. The run did not learn; with a
    ReLU between them the same batch is learned with the same optimizer.
    Fix: Put an activation between them: x = torch.relu(self.fc1(x)).
    Guardrail: assert not torch.allclose(model(a + b), model(a) + model(b) - model(0 * a))
    """
    trace = case.trace(course.first)
    if trace is None or not trace.reproduced or len(course.steps) < case.limit("steps"):
        return
    pairs = _collapsing(case, trace)
    if not pairs or not unlearned(case, course, case.limit("solved")):
        return
    relu = trace.engine.namespace.relu
    bent = swapped(trace.snapshot, {one.call.number: _followed_by(relu) for one, _ in pairs})
    poor = unlearned(case, course, case.limit("part"))
    factor = case.limit("better" if poor else "far better")
    arms = repair(case, course, trace.snapshot, factor, repaired=bent)
    times = case.limit("bend" if poor else "far bend")
    if arms is None or not _finds_something(case, course, bent, arms, times):
        return
    calls = [each.call for each in layers_of(case, trace)]
    one, other = pairs[0]
    dropped = _dropped(trace, one)
    place = call_place(case, one.call, calls) if dropped is None else dropped.where
    yield missing_nonlinearity.finding(
        f"{one.label} {list(one.shape)} and {other.label} {list(other.shape)} follow each "
        "other directly: together they are one linear map",
        arms.told("with a ReLU between them"),
        where=place,
        proof=Proof.TRIED,
        fix=(
            f"x = torch.relu(…)  # between {one.label} and {other.label}"
            if dropped is None
            else f"x = …  # keep what {dropped.op} returns: it does not change its input"
        ),
        places=[("the next layer", call_place(case, other.call, calls))],
        parameters=[one.label, other.label],
    )


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
            if each.op in ops.ACTIVATIONS and Produced(layer.call.number, 0) in each.sources()
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
        grouped = one.call.op in ops.CONVOLUTIONS and _groups(one.call) > 1
        grouped |= other.call.op in ops.CONVOLUTIONS and _groups(other.call) > 1
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
    if call.op in ops.DROPOUTS:  # its second input is the mask that was drawn
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
