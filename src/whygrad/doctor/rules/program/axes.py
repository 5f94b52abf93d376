"""A softmax, a loss or a recurrent layer that runs along the wrong axis.

An axis is the batch, or it is not; nothing here is a matter of degree.  Sizes that agree by
accident prove nothing, so where the classes are is found by sending the numbers of the last layer's
features through the same reshaping.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.flow import (
    Way,
    axis_of,
    carry,
    feature_axis,
    first_readings,
    follow,
    line_of,
    shape_of,
    sums_to_one,
)
from whygrad.doctor.evidence.sequences.crossing import Crossing, crossings
from whygrad.doctor.experiments.changes import along, mended
from whygrad.doctor.rules.mixing import mixed
from whygrad.doctor.rules.rule import Finding, Proof, once, rule
from whygrad.doctor.rules.scrambles import misread_inputs, scrambles
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.reading import Reading, Term
from whygrad.source import Where

__all__ = ["wrong_dim"]

Shape = tuple[int, ...]

_PRODUCTS = ops.MATRIX_PRODUCTS | ops.EINSUM
_SCALING = ops.SCALINGS | ops.ADD | ops.CHOICES


@rule(
    thresholds={
        "links": (4, "calls between scores and their product that scale or mask"),
        "sum": (0.05, "by which probabilities may miss 1: half precision does"),
        "mixed": (0.4, "of what ignoring the input costs: below it samples may mix on purpose"),
    },
)
def wrong_dim(case: Case) -> Iterator[Finding]:
    """Something runs along the wrong axis: a softmax, a loss, a recurrent layer, a view.

    The scores of one sample must compete with each other, not with those of the other samples
    or time steps. Along the wrong axis the numbers still look like probabilities, and the loss
    still goes down a little, but what is learned depends on who else is in the batch.

    Measured: Which axis the softmax or the loss takes for the classes, and where the features
    of the last layer are after all the reshaping. Behind a recurrent layer, attention or a
    normalisation, whether the answer for one sample depends on other samples. And whether view()
    or reshape() is used to swap axes, which only moves names.
    Fix: Run softmax and log_softmax along the class axis (dim=1 or dim=-1); cross_entropy wants
    [N, C] or [N, C, T]; a recurrent layer wants batch_first=True for [N, T, F].
    Guardrail: assert torch.allclose(probabilities.sum(dim=-1), torch.ones(()))
    """
    found = list(once(_wrong(case)))
    yield from found or once(mixed(case, wrong_dim))
    yield from _refused_labels(case)


def _wrong(case: Case) -> Iterator[Finding | None]:
    for reading in first_readings(case):
        trace = reading.trace
        outputs = {follow(trace, each.source).maker: each for each in reading.terms}
        for call in trace.calls:
            if call.op in ops.SOFTMAXES and call.inputs[0].requires_grad:
                yield (
                    _over_batch(case, reading, call)
                    or (
                        _beside_target(case, trace, call, outputs[call])
                        if call in outputs
                        else None
                    )
                    or _mixed_along_another(case, trace, call)
                )
            elif call.op in ops.CLASS_LOSSES:
                yield _labelled(case, trace, call)
            elif call.op in ops.GATHERS:
                yield _picked(case, trace, call)
        for crossing in crossings(case, reading):
            yield _from_sample_to_sample(case, trace, crossing)
        for each in scrambles(trace):
            yield _about(
                trace,
                each.call.where,
                f"Move the axes: {each.remedy} in place of {each.call.op}(…).",
                f"{each.call.op} makes {list(each.after)} of {list(each.before)}: it reads the "
                "same numbers in the same order, so the axes get new names and the numbers do "
                "not move",
                proof=Proof.RECORDED,
            )
        for line, fix, *said in misread_inputs(reading):
            yield _about(trace, line, fix, *said, proof=Proof.INFERRED)


def _about(
    trace: Trace,
    where: Where,
    fix: str,
    *evidence: str,
    proof: Proof = Proof.REPLAYED,
    turned: tuple[Traced, int] | None = None,
) -> Finding:
    """``turned``: the call that the fix turns, and to which axis."""
    snapshot = trace.snapshot
    return wrong_dim.finding(
        *evidence,
        where=where,
        step=snapshot.step,
        proof=proof,
        fix=fix,
        remedy=turned and mended(snapshot, {turned[0].number: along(turned[1])}),
    )


def _over_batch(case: Case, reading: Reading, call: Traced) -> Finding | None:
    """A softmax along axis 0, where axis 0 counts the samples."""
    trace = reading.trace
    shape = shape_of(call.inputs[0])
    if len(shape) < 2 or axis_of(call) != 0 or shape[0] < 2:
        return None
    others = shape[1:]
    if math.prod(others) < 2 or shape[0] in others or not _is_batch(reading, shape[0]):
        return None
    for each in trace.calls:
        if each.op in ops.CROSS_ENTROPY and follow(trace, each.sources[0]).maker is call:
            return None  # two softmaxes: one is to go altogether
    where = line_of(case, trace, call)
    # The classes are the last axis, unless there is but one number along it.
    dim = -1 if shape[-1] > 1 else max(range(1, len(shape)), key=lambda axis: shape[axis])
    return _about(
        trace,
        where,
        f"Use dim={dim} instead of dim=0 at line {where.line}.",
        f"{call.op} at {call.spot} gets {list(shape)} and runs along axis 0",
        f"axis 0 counts the {shape[0]} samples of the batch, so each column sums to 1 over "
        "the samples, and a sample's answer depends on the others",
        turned=(call, dim),
    )


def _is_batch(reading: Reading, size: int) -> bool:
    """Whether inputs and targets alike have this many rows."""
    named = [each.target for each in reading.terms if each.call in reading.losses]
    targets = named or [reading.target]
    rows = [shape_of(each)[:1] for each in targets if each is not None]
    if not rows or all(each != (size,) for each in rows):
        return False
    inputs = [shape_of(each)[:1] for each in reading.inputs]
    return not inputs or (size,) in inputs


def _beside_target(case: Case, trace: Trace, call: Traced, term: Term) -> Finding | None:
    """The target is a distribution along one axis, the prediction along another."""
    shape, axis = shape_of(call.inputs[0]), axis_of(call)
    if term.target is None or len(shape) < 2:
        return None
    if shape != shape_of(term.target) or shape != shape_of(term.prediction):
        return None
    target = trace.array(term.target)
    right = [each for each in range(len(shape)) if sums_to_one(target, each)]
    if target.dtype.kind != "f" or len(right) != 1 or axis in right or shape[right[0]] < 2:
        return None
    where = line_of(case, trace, call)
    evidence = [
        f"{call.op} at {call.spot} runs along axis {axis} of {list(shape)}",
        f"the targets sum to 1 along axis {right[0]}, and not along axis {axis}",
    ]
    return _about(
        trace,
        where,
        f"Use dim={right[0]} at line {where.line}.",
        *evidence,
        turned=(call, right[0]),
    )


def _mixed_along_another(case: Case, trace: Trace, call: Traced) -> Finding | None:
    """Attention: scores of queries against keys, and values added up along another axis.

    Weights that sum to 1 along one axis and mix along the other are right where they say which part
    a thing belongs to; such scores come from a layer, and not from a product of two computed
    matrices.
    """
    shape, axis = shape_of(call.inputs[0]), axis_of(call)
    if call.op in ops.LOG_SOFTMAX or len(shape) < 2 or not _compares(case, trace, call.sources[0]):
        return None
    sizes = [1] * len(shape)
    sizes[axis] = shape[axis]
    numbers = np.broadcast_to(np.arange(shape[axis]).reshape(sizes), shape)
    mixers = [each for each in trace.calls if each.op in _PRODUCTS and each.number > call.number]
    contracted = None
    for mixer in mixers:
        for place, source in enumerate(mixer.sources[:2]):
            way = _follow_weights(trace, source)
            if way.maker is not call:
                continue
            along = _contracted(mixer, place)
            moved = carry(trace, way, numbers)
            if along is None or moved is None or moved.shape[along] < 2:
                return None
            if moved.size and (moved != np.take(moved, [0], axis=along)).any():
                return None  # it is this axis, for one of the products
            contracted = mixer
    if contracted is None:
        return None
    where = line_of(case, trace, call)
    return _about(
        trace,
        where,
        f"Let the softmax run over the keys, along which the values are added up: dim=-1 at line "
        f"{where.line}.",
        f"{call.op} at {call.spot} gets scores {list(shape)} and runs along axis {axis}",
        f"{contracted.op} at {contracted.spot} adds up values along another axis: "
        "the weights of one sum do not add up to 1",
        proof=Proof.INFERRED,
        turned=(call, -1),
    )


def _follow_weights(trace: Trace, source: Produced | None) -> Way:
    """Back to the softmax that made some weights, past a dropout."""
    way = follow(trace, source)
    if way.op not in ops.DROPOUTS or way.maker is None:
        return way
    earlier = follow(trace, way.maker.sources[0])
    return Way(earlier.maker, earlier.source, [*earlier.passed, *way.passed])


def _compares(case: Case, trace: Trace, source: Produced | None) -> bool:
    """Whether scores are products of queries and keys, scaled or masked perhaps."""
    for _ in range(int(case.limit("links"))):
        maker = follow(trace, source).maker
        if maker is None:
            return False
        if maker.op in _PRODUCTS:
            return len(maker.sources) == 2 and all(
                given.requires_grad and follow(trace, each).maker is not None
                for given, each in zip(maker.inputs, maker.sources)
            )
        if maker.op not in _SCALING:
            return False
        source = next((each for each in maker.sources if each is not None), None)
    return False


def _contracted(call: Traced, place: int) -> int | None:
    """The axis of an input that a product of matrices adds up along."""
    rank = len(shape_of(call.inputs[place]))
    if call.op not in ops.EINSUM:
        return (rank - 1 if place == 0 else max(0, rank - 2)) if rank else None
    equation = call.args[0] if call.args else None
    if not isinstance(equation, str) or "->" not in equation or "." in equation:
        return None
    given, made = equation.replace(" ", "").split("->")
    letters = given.split(",")[place]
    gone = [at for at, letter in enumerate(letters) if letter not in made]
    return gone[0] if len(gone) == 1 else None


def _labelled(case: Case, trace: Trace, call: Traced) -> Finding | None:
    """cross_entropy and nll_loss: the classes are axis 1."""
    shape = shape_of(call.inputs[0])
    way = follow(trace, call.sources[0])
    if way.maker is None or not call.inputs[0].requires_grad:
        return None
    if len(shape) == 1:
        return _batch_as_classes(trace, call, shape)
    if way.op in ops.SOFTMAXES and call.op in ops.NLL_LOSS:
        values = trace.array(call.inputs[0]).astype(np.float64)
        total = np.exp(values).sum(axis=1)
        if np.abs(total - 1).max() > case.limit("sum") and way.op in ops.LOG_SOFTMAX:
            return _not_normalized(case, trace, call, way.maker, shape)
        way = follow(trace, way.maker.sources[0])
    layer = feature_axis(trace, way)
    if layer is None or layer[0][layer[1]] != shape[1] or shape[1] < 2 or call.op in ops.NLL_LOSS:
        return None
    sizes = [1] * len(layer[0])
    sizes[layer[1]] = shape[1]
    numbers = np.arange(shape[1]).reshape(sizes)
    labels = carry(trace, way, np.broadcast_to(numbers, layer[0]))
    if labels is None or labels.shape != shape:
        return None
    wanted = np.arange(shape[1]).reshape(1, shape[1], *[1] * (len(shape) - 2))
    if (labels == wanted).all():
        return None
    moved = [each for each in range(len(layer[0])) if each != layer[1]]
    fix = (
        f"Flatten to one row a sample: logits.reshape(-1, {shape[1]}) and targets.reshape(-1), or "
    )
    fix += "move the classes with logits.transpose(1, 2)."
    flat = [step for step, *_ in way.passed if step.op in ops.RESHAPES | ops.FLATTENING]
    where = call.where
    if len(shape) == 2 and layer[1] != len(layer[0]) - 1:  # it was flattened, with the axes as is
        where = flat[-1].where if flat else where
        order = ", ".join(map(str, (*moved, layer[1])))
        fix = f"Move the classes to the end first: logits.permute({order}).reshape(-1, {shape[1]})."
    return _about(
        trace,
        where,
        fix,
        f"cross_entropy at {call.spot} gets {list(shape)} and takes axis 1 for the "
        f"{shape[1]} classes",
        f"the last layer made {list(layer[0])}, with its {shape[1]} outputs on axis "
        f"{layer[1]}; after the reshaping they are not on axis 1",
    )


def _batch_as_classes(trace: Trace, call: Traced, shape: Shape) -> Finding | None:
    """[N] against [N] of 0 and 1: taken for one sample with N classes."""
    if call.op not in ops.CROSS_ENTROPY or len(call.inputs) < 2 or shape[0] < 2:
        return None
    target = trace.array(call.inputs[1])
    if target.shape != shape or target.dtype.kind != "f" or sums_to_one(target, 0):
        return None
    return _about(
        trace,
        call.where,
        "For one output per sample use binary_cross_entropy_with_logits.",
        f"cross_entropy at {call.spot} gets scores and targets of {list(shape)}",
        f"without a second axis that is one sample with {shape[0]} classes: the softmax runs "
        "over the batch",
    )


def _not_normalized(case: Case, trace: Trace, call: Traced, maker: Traced, shape: Shape) -> Finding:
    where = line_of(case, trace, maker)
    given = shape_of(maker.inputs[0])
    axis = next((at for at in (1, len(given) - 1) if given[at] == shape[1]), None)
    classes = "the class axis" if axis is None else f"the {shape[1]} classes: dim={axis}"
    return _about(
        trace,
        where,
        f"Let {maker.op} run along {classes}.",
        f"{maker.op} at {maker.spot} runs along axis {axis_of(maker)} of {list(given)}",
        f"nll_loss at {call.spot} gets {list(shape)} and takes axis 1 for the "
        "classes; along it the probabilities do not sum to 1",
        turned=None if axis is None else (maker, axis),
    )


def _picked(case: Case, trace: Trace, call: Traced) -> Finding | None:
    """gather along another axis than the softmax it picks from."""
    maker = trace.made_by(call.sources[0])
    if maker is None or maker.op not in ops.SOFTMAXES:
        return None
    rank = len(shape_of(maker.inputs[0]))
    if not isinstance(call.argument(1, "dim"), int) or rank < 2:
        return None
    axis = int(call.argument(1, "dim")) % rank
    if axis == axis_of(maker):
        return None
    return _about(
        trace,
        line_of(case, trace, maker),
        f"Let both run along the class axis: dim={rank - 1}.",
        f"{maker.op} at {maker.spot} runs along axis {axis_of(maker)} of "
        f"{list(shape_of(maker.inputs[0]))}",
        f"gather at {call.spot} picks along axis {axis}",
    )


def _from_sample_to_sample(case: Case, trace: Trace, found: Crossing) -> Finding:
    """A recurrent layer that takes the samples for time steps."""
    mark, (samples, steps, _) = found.mark, found.shape
    part = "" if found.step is None else f", taken from place {found.step} of axis 1,"
    return wrong_dim.finding(
        f"{mark.kind} at line {mark.where.line} gets {list(found.shape)} and, without "
        "batch_first, takes axis 0 for the time",
        f"the loss has {samples} answers, one for each place of axis 0: they are the samples, "
        f"and the {steps} places of axis 1 the time steps",
        f"the answer for sample {found.row}{part} depends on {found.others} other samples",
        title="A recurrent layer goes from sample to sample in place of the time steps",
        where=case.run.made.get(id(mark.module), mark.where),
        step=trace.snapshot.step,
        proof=Proof.REPLAYED,
        fix=f"Make it with nn.{mark.kind}(..., batch_first=True).",
        guardrail="assert torch.allclose(model(batch)[-1:], model(batch[-1:]), atol=1e-4)",
    )


def _refused_labels(case: Case) -> Iterator[Finding]:
    """cross_entropy raised because the classes are not on axis 1."""
    failure = case.run.failure
    if failure is None or failure.op not in ops.CLASS_LOSSES or len(failure.args) < 2:
        return
    scores, target = (shape_of(each) for each in failure.args[:2])
    if len(scores) < 2 or len(target) == len(scores) or target == (scores[0], *scores[2:]):
        return
    layout = len(scores) > 2 and target in (scores[:-1], (math.prod(scores[:-1]),))
    turned = len(scores) == 2 and target == scores[1:] and scores[0] != scores[1]
    if not layout and not turned:
        return
    yield wrong_dim.raised(
        case,
        failure,
        f"{failure.op} was given scores {list(scores)} and targets {list(target)}: with the "
        "classes on axis 1, the targets would be " + str([scores[0], *scores[2:]]),
        fix=f"logits.reshape(-1, {scores[-1]}) and targets.reshape(-1), or logits.transpose(1, 2).",
    )
