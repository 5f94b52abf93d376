"""Gradients that are lost on their way: through many layers, or through many steps of a sequence.

Small gradients alone are no fault: at the end of training all of them are small.  What counts is
what is left of the gradient between the last layer and the first, in a run that does not learn, and
whether the same model learns once the factors on the way are near one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from whygrad.doctor.evidence.anatomy import (
    Layer,
    activation_place,
    common,
    layers_of,
    rectifiers_of,
    size_of,
    squashers_of,
)
from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.progress import is_entangled
from whygrad.doctor.evidence.recurrence import Recurrence, recurrences
from whygrad.doctor.experiments.repairs import fresh_weights, level, repair, unlearned
from whygrad.doctor.rules.model.written import written_at
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.ops.families import RECTIFIERS
from whygrad.recording.record import Course
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.recipes import Wrapper, swapped, tensor_like

__all__: list[str] = []


@rule(
    thresholds={
        "ratio": (1e-3, "of the last layer's gradient: updates of the first are lost in noise"),
        "clear": (0.05, "of the last layer's gradient: less rules nothing out"),
        "nothing": (1e-7, "of it: the first layers stand still in float32"),
        "depth": (4, "layers: fewer lose nothing by depth"),
        "better": (0.6, "of the loss that is reached with factors near one"),
        "part": (0.5, "of what ignoring the input costs: below it the run learned"),
        "stuck": (0.9, "of the same: nothing was learned at all"),
        "remembers": (0.95, "of the loss with a recurrent weight that forgets nothing"),
        "told": (0.8, "of the targets' variance that an early step tells"),
        "steps": (8, "updates: fewer do not show whether it learns"),
        "recovered": (30, "times the ratio at the end: it has found its way"),
        "early": (0.1, "of a sequence that counts as its beginning"),
        "samples": (4, "for each feature of a linear fit"),
    },
    cleared=lambda case: _told_ratio(case),
)
def vanishing_gradient(case: Case, course: Course) -> Iterator[Finding]:
    """The gradient is lost on its way to the first layers.

    Going backwards, each layer multiplies the gradient by its weights and by the slope of its
    activation. When these factors are below one, many layers leave nothing: the last layers
    learn, the first ones stay as random as they began.

    Measured: The gradient that arrives at the first layer's output is less than a thousandth of
    that at the last layer's, at the first and at the latest recorded step, and the run did not
    learn; or it is so between the first and the last step of a sequence. With ReLUs and weights
    to match, or a recurrent weight that forgets nothing, the same batch is learned; or the
    targets can be told from the very steps that no gradient reaches.
    Fix: Use ReLU or GELU with kaiming initial weights, skip connections or normalisation.
    Guardrail: assert first.weight.grad.norm() > 1e-4 * last.weight.grad.norm()
    """
    trace, late = case.trace(course.first), case.trace(course.last)
    if trace is None or late is None or not trace.reproduced:
        return
    if len(course.steps) < case.limit("steps"):
        return
    if not unlearned(case, course, case.limit("part")):
        return
    found = _through_layers(case, course, trace, late)
    found = found or _through_time(case, course, trace, late)
    if found is not None:
        yield found
        return


def _through_layers(case: Case, course: Course, trace: Trace, late: Trace) -> Finding | None:
    """The gradient is lost between the last layer and the first."""
    if is_entangled(course, case.courses):
        return None  # part of the way is another's, and to get below is to win against it
    chain = _chain(case, trace)
    if len(chain) < case.limit("depth") or _ratio(chain) > case.limit("ratio"):
        return None
    if _ratio(_chain(case, late)) > case.limit("recovered") * case.limit("ratio"):
        return None  # it has found its way in the meantime
    if any(each.kind.startswith("BatchNorm") and not each.training for each in trace.marks()):
        return None  # the layers are meant to be normalised, and are not
    active = squashers_of(trace) or rectifiers_of(trace)
    between = [each for each in active if trace.descends(chain[-1].call, each)]
    proof = _without_loss(case, course, trace, chain, between) if between else None
    # So little is left that the first layers stand still whatever the rest does.
    nothing = bool(between) and _ratio(chain) < case.limit("nothing")
    latest, guess = case.progress(course).latest, level(case, course)
    if proof is None and nothing and guess is not None and latest > case.limit("stuck") * guess:
        proof = (
            f"after {len(course.steps)} updates the loss of the first batch is {latest:.4g}; to "
            f"ignore the input would cost {guess:.4g}"
        )
    if proof is None:
        return None
    sizes = [size_of(each.call.gradients[0]) for each in chain]
    # A rectifier hands a gradient on as it is: then the weights make it smaller.
    by_weights = between[0].op in RECTIFIERS
    places = common([activation_place(case, each) for each in between])
    return vanishing_gradient.finding(
        f"size of the gradient behind {chain[0].label}: {sizes[0]:.2g}, behind "
        f"{chain[-1].label}: {sizes[-1]:.2g}, {len(chain)} layers and "
        f"{len(between)} × {between[0].op} apart",
        proof,
        where=written_at([each.parameter for each in chain], chain[0].parameter)
        if by_weights
        else places,
        proof=Proof.INFERRED,
        fix=(
            f"Start each of the {len(chain)} layers from nn.init.kaiming_normal_: their weights "
            "make what passes through them smaller."
            if by_weights
            else f"Replace the {len(between)} {between[0].op} between the layers by ReLU or GELU "
            "and start from nn.init.kaiming_normal_; keep sigmoid for the output only."
        ),
        parameters=[chain[0].label],
    )


def _through_time(case: Case, course: Course, trace: Trace, late: Trace) -> Finding | None:
    """The gradient is lost between the last step of a sequence and the first."""
    if not unlearned(case, course, case.limit("stuck")):
        return None
    lost = [each for each in recurrences(case, trace) if each.ratio < case.limit("ratio")]
    still = [each for each in recurrences(case, late) if each.ratio < case.limit("ratio")]
    if not lost or not still:
        return None
    worst = min(lost, key=lambda each: each.ratio)
    start = {
        name: tensor_like(trace.engine, np.eye(len(array), dtype=array.dtype))
        for name in worst.weights
        if (array := trace.array(trace.snapshot.values[name])) is not None
    }
    early = _told_early(case, course, worst)
    if early is not None:
        return _about_time(case, worst, early)
    arms = repair(case, course, trace.snapshot, case.limit("remembers"), start=start)
    return (
        None
        if arms is None
        else _about_time(case, worst, arms.told("when the recurrent weight starts as the identity"))
    )


def _told_early(case: Case, course: Course, worst: Recurrence) -> str | None:
    """What the target depends on, if that stands where no gradient comes from: an exact proof."""
    reading = case.reading(course.first)
    if reading is None or reading.target is None or worst.ratio > case.limit("ratio") ** 2:
        return None
    trace = reading.trace
    target = _columns(trace.array(reading.target))
    for given in reading.inputs:
        array = trace.array(given)
        if (
            array.ndim not in (2, 3)
            or target is None
            or (array.ndim == 2) == (array.dtype.kind == "f")
        ):
            continue
        if array.shape[0] != len(target):
            array = np.swapaxes(array, 0, 1)
        if array.shape[:2] != (len(target), worst.length):
            continue
        for step in range(max(1, int(case.limit("early") * worst.length))):
            features = _columns(array[:, step])
            if features is None or case.limit("samples") * features.shape[1] > len(target):
                continue
            part = _explained(features, target)
            if part >= case.limit("told"):
                return (
                    f"{part:.0%} of what the targets vary by can be told from step {step} of the "
                    "sequence alone, from where no gradient arrives"
                )
    return None


def _columns(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """Numbers as they are, and a column of zeros and ones for each label."""
    if array.dtype.kind in "iu" and array.ndim == 1:
        values = np.unique(array)
        return (array[:, None] == values[None]).astype(float) if len(values) > 1 else None
    if array.dtype.kind != "f" or array.ndim not in (1, 2) or not np.isfinite(array).all():
        return None
    return array.reshape(len(array), -1).astype(float)


def _explained(features: np.ndarray[Any, Any], target: np.ndarray[Any, Any]) -> float:
    """The part of the target's variance that a linear function of the features accounts for."""
    features, target = features - features.mean(axis=0), target - target.mean(axis=0)
    fitted = features @ np.linalg.lstsq(features, target, rcond=None)[0]
    total = float(np.square(target).sum())
    return 1 - float(np.square(target - fitted).sum()) / total if total > 0 else 0.0


def _about_time(case: Case, worst: Recurrence, proof: str) -> Finding:
    fused = worst.call.op.startswith("rnn_") and not worst.call.op.endswith("_cell")
    made = case.made_at(worst.call.module) if fused else None
    return vanishing_gradient.finding(
        f"the sequence has {worst.length} steps; the gradient at the first has size "
        f"{worst.first:.2g}, at the last {worst.last:.2g}",
        proof,
        where=made or worst.call.where,
        proof=Proof.INFERRED,
        fix=(
            "Use nn.LSTM or nn.GRU, whose state is carried on by addition; or start the recurrent "
            "weight as the identity: nn.init.eye_(rnn.weight_hh_l0)."
        ),
    )


def _without_loss(
    case: Case, course: Course, trace: Trace, chain: list[Layer], between: list[Traced]
) -> str | None:
    """What the run would have learned with activations or weights that keep the gradient's size."""
    start = fresh_weights(trace.snapshot, chain, math.sqrt(2))
    rectified = swapped(trace.snapshot, {each.number: _rectifier(trace) for each in between})
    for repaired, how in (
        (rectified, "with ReLU and weights to match"),
        (None, "from weights that make up for the activation's slope"),
    ):
        factor = case.limit("better")
        arms = repair(case, course, trace.snapshot, factor, start=start, repaired=repaired)
        if arms is not None:
            return arms.told(how)
    return None


def _chain(case: Case, trace: Trace) -> list[Layer]:
    """The layers that lie behind one another on the way to the loss, different weights each."""
    found: list[Layer] = []
    for layer in layers_of(case, trace):
        known = any(each.name == layer.name for each in found)
        behind = not found or trace.descends(layer.call, found[-1].call)
        if behind and not known and 0 in layer.call.gradients:
            found.append(layer)
    return found


def _ratio(chain: list[Layer]) -> float:
    """What is left at the first layer of the gradient at the last one."""
    if len(chain) < 2:
        return 1.0
    last = size_of(chain[-1].call.gradients[0])
    return size_of(chain[0].call.gradients[0]) / last if last > 0 else 1.0


def _rectifier(trace: Trace) -> Wrapper:
    relu = trace.engine.namespace.relu
    return lambda inner: lambda given, *rest, **named: relu(given)


def _told_ratio(case: Case) -> str | None:
    trace = case.trace(case.first)
    chain = [] if trace is None else _chain(case, trace)
    clear = case.limit("clear")
    if len(chain) < 2 or not clear < _ratio(chain) < 1 / clear:
        return None
    return f"the first layer gets {_ratio(chain):.2g} times the gradient of the last"
