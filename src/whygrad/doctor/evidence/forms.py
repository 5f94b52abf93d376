"""What each loss expects of its input, and what it gets.

binary_cross_entropy wants probabilities, cross_entropy raw scores, nll_loss logarithms of
probabilities.  What the model hands over is known from the call that computed it: a sigmoid gives
probabilities, a linear layer raw scores.  Where the form shows in the values too (the exponentials
of log-probabilities sum to 1), the values have to agree before a mismatch is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.flow import (
    Way,
    axis_of,
    feature_axis,
    follow,
    is_sigmoid,
    is_tanh_state,
    shape_of,
    sums_to_one,
)
from whygrad.ops import families as ops
from whygrad.recording.ranges import Array
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.recipes import Wrapper, passed_on

__all__ = ["Mismatch", "form_of", "probability_form", "rectified_regression"]

Change = tuple[int, Wrapper]
_MANY = 0.2  # of the samples or of the values: they are no oversight
_LAYERS = ops.NORMALIZERS | (ops.ACTIVATIONS - ops.SIGMOIDS - ops.LOG_PROBABILITIES)


@dataclass(eq=False)
class Mismatch:
    """An input that does not have the form that its loss expects."""

    fault: Traced | None  # the call that should not be there; None: one is missing
    evidence: list[str]
    fix: str
    change: Change | None = None  # the call to change for the fix, and how


def _given(call: Traced) -> str:
    found = call.before[0]
    return f"{call.op} at {call.spot} gets values from {found.low:.3g} to {found.high:.3g}"


def _comes_from(maker: Traced) -> str:
    return f"they come from {maker.op} at {maker.spot}"


def _remove(maker: Traced, evidence: list[str], why: str) -> Mismatch:
    fix = f"Remove {maker.op} at {maker.spot}: {why}."
    return Mismatch(maker, evidence, fix, (maker.number, passed_on))


def _behind(maker: Traced) -> str:
    return f"Put a linear layer behind {maker.op} at {maker.spot}: it returns raw scores."


def _is_state(way: Way) -> bool:
    return way.source is not None and is_tanh_state(way.maker, way.source.place)


def _probabilities(trace: Trace, maker: Traced | None) -> bool:
    return is_sigmoid(trace, maker) or (maker is not None and maker.op in ops.SOFTMAX)


def _is_raw(trace: Trace, way: Way) -> bool:
    """Whether a value is a layer's result, with or without an ordinary activation."""
    return way.op in _LAYERS or feature_axis(trace, way) is not None


def _of_an_average(trace: Trace, call: Traced) -> Traced:
    """What several answers were computed by that a call is the mean of: a sum, begun at zero."""
    parameters = {id(each) for each in trace.parameters.values()}
    waiting, summed = [call], []
    for each in waiting:  # grows while it is walked
        if each.op not in ops.DIV | ops.ADD or parameters & {id(it) for it in each.inputs}:
            summed.append(each)
            continue
        wanted = each.sources[:1] if each.op in ops.DIV else each.sources
        made = [follow(trace, it).maker for it in wanted if it is not None]
        waiting += [it for it in made if it is not None and it.op not in ops.LIKES | ops.MAKERS]
    never = bool(summed) and all(each.op in ops.NEVER_NEGATIVE for each in summed)
    return summed[0] if never else call


def with_logits(trace: Trace, call: Traced) -> Mismatch | None:
    """binary_cross_entropy_with_logits: scores that a sigmoid can take to any probability."""
    way = follow(trace, call.sources[0])
    maker = way.maker and _of_an_average(trace, way.maker)
    if maker is None:
        return None
    target = trace.array(call.inputs[1])
    below, above = float((target < 0.5).mean()), float((target > 0.5).mean())
    if _probabilities(trace, maker):
        told = "a score in [0, 1] is a probability in [0.5, 0.73] after the second sigmoid"
    elif maker.op in ops.TWO_SIDED or _is_state(way):
        told = "a score in [-1, 1] is a probability in [0.27, 0.73]"
    elif maker.op in ops.NEVER_NEGATIVE and below:
        told = f"without scores below 0 no probability is below 0.5; {below:.0%} of the targets are"
    elif maker.op in ops.LOG_PROBABILITIES and above:
        told = f"without scores above 0 no probability is above 0.5; {above:.0%} of the targets are"
    else:
        return None
    evidence = [_given(call), _comes_from(maker), told]
    if _is_state(way):
        return Mismatch(maker, evidence, _behind(maker))
    return _remove(maker, evidence, "the loss applies the sigmoid itself and needs raw scores")


def cross_entropy(trace: Trace, call: Traced) -> Mismatch | None:
    """cross_entropy: scores that are free to differ as much as it takes."""
    return _tags(trace, call) or _bounded_scores(trace, call, call)


def _bounded_scores(trace: Trace, softmax: Traced, loss: Traced) -> Mismatch | None:
    """Scores that a sigmoid or tanh keeps close together, before the softmax of a loss."""
    way = follow(trace, softmax.sources[0])
    maker, state = way.maker, _is_state(way)
    if maker is None or not (state or is_sigmoid(trace, maker) or maker.op in ops.TWO_SIDED):
        return None
    shape = shape_of(loss.inputs[0])
    classes = shape[1] if len(shape) > 1 else shape[0]
    reach = 2.0 if state or maker.op in ops.TWO_SIDED else 1.0
    best = float(np.log1p((classes - 1) * np.exp(-reach)))
    told = (
        f"scores that are at most {reach:g} apart cannot bring the loss over {classes} classes "
        f"below {best:.3f}"
    )
    evidence = [_given(softmax), _comes_from(maker), told]
    if state:
        return Mismatch(maker, evidence, _behind(maker))
    return _remove(maker, evidence, f"{softmax.op} needs raw scores, negative and positive")


def _log_normalized(values: np.ndarray[Any, Any]) -> bool:
    """Whether the exponentials sum to one along some axis, or nearly so."""
    if not values.size or not np.isfinite(values).any():
        return True
    with np.errstate(all="ignore"):
        powers = np.exp(values.astype(np.float64))
    return any(bool(np.abs(powers.sum(axis=axis) - 1).max() < 0.05) for axis in range(values.ndim))


def _logarithms(trace: Trace, call: Traced) -> Mismatch | None:
    """nll_loss, and the prediction of kl_div: logarithms of probabilities."""
    way = follow(trace, call.sources[0])
    values = trace.array(call.inputs[0])
    if way.op in ops.LOG_SOFTMAX and way.maker is not None:
        return _bounded_scores(trace, way.maker, call)
    if way.maker is None or _log_normalized(values):
        return None
    evidence = [_given(call), _comes_from(way.maker)]
    if _probabilities(trace, way.maker) or sums_to_one(values, values.ndim - 1):
        evidence.append("these are probabilities: their logarithms would not be above 0")
        return _as_logarithms(trace, call, way.maker, evidence)
    above = float((values > 0).mean())
    if not _is_raw(trace, way) and above < _MANY:
        return None
    if above:
        evidence.append(f"{above:.0%} of them are above 0, where no logarithm of a probability is")
    evidence.append("nothing normalises these scores, so the loss falls without end as they grow")
    axis = _class_axis(shape_of(call.inputs[0]))
    if axis is None:
        fix = f"{call.op} picks from the scores of several classes; here there is only one number."
        return Mismatch(None, evidence, fix)
    fix = f"{call.op} needs log_softmax(scores, dim={axis}); cross_entropy takes raw scores."
    return Mismatch(None, evidence, fix, (call.number, _normalized(trace, axis)))


def _class_axis(shape: tuple[int, ...]) -> int | None:
    """Where a loss looks for the classes; None if there is a single number."""
    axis = 1 if len(shape) > 1 else 0
    return axis if shape and shape[axis] > 1 else None


def _normalized(trace: Trace, axis: int) -> Wrapper:
    """The loss, of the log_softmax of what it is given."""
    space: Any = trace.engine.namespace.nn.functional
    return lambda inner: (
        lambda scores, *rest, **named: inner(space.log_softmax(scores, dim=axis), *rest, **named)
    )


def _as_logarithms(trace: Trace, call: Traced, maker: Traced, evidence: list[str]) -> Mismatch:
    """What to do about probabilities where their logarithms are wanted."""
    wants = f"{call.op} needs log-probabilities"
    if maker.op in ops.EXP and follow(trace, maker.sources[0]).op in ops.LOG_PROBABILITIES:
        return _remove(maker, evidence, f"{wants}, and it undoes the logarithm")
    if maker.op in ops.SOFTMAX:
        fix = f"{wants}: use log_softmax instead of {maker.op} at {maker.spot}."
    else:
        fix = f"{wants}: take the log of what {maker.op} at {maker.spot} makes, or log_softmax."

    def logarithm(inner: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **named: inner(*args, **named).log()

    return Mismatch(maker, evidence, fix, (maker.number, logarithm))


def kl_div(trace: Trace, call: Traced) -> Mismatch | None:
    """kl_div: log-probabilities against probabilities, or logarithms of both if told so."""
    target = trace.array(call.inputs[1])
    logarithms = bool(call.argument(5, "log_target", False))
    named = f"the target of kl_div at {call.spot}"
    if target.size and not logarithms and target.min() < -1e-6:
        told = f"{named} goes down to {target.min():.3g}: logarithms, and log_target is False"
        return Mismatch(None, [told], "Give probabilities as the target, or say log_target=True.")
    if target.size and logarithms and target.min() >= 0 and target.max() > 0:
        told = f"{named} lies in [{target.min():.3g}, {target.max():.3g}], and log_target is True"
        return Mismatch(None, [told], "Give log-probabilities as the target, or log_target=False.")
    return _logarithms(trace, call)


def binary_cross_entropy(trace: Trace, call: Traced) -> Mismatch | None:
    """binary_cross_entropy: probabilities, from one sigmoid over free scores."""
    way = follow(trace, call.sources[0])
    clamp = way.maker if way.op in ops.CLAMPS else None
    if clamp is not None:
        way = follow(trace, clamp.sources[0])
    return probability_form(trace, call, way, clamp, trace.array(call.inputs[1]))


def probability_form(
    trace: Trace, call: Traced, way: Way, clamp: Traced | None, target: Array
) -> Mismatch | None:
    """What is wrong with what ``call`` gets as the probability of yes, perhaps through a clamp."""
    if way.maker is None:
        return None
    if is_sigmoid(trace, way.maker):
        return _second_sigmoid(trace, call, way.maker, target)
    if way.op in ops.SOFTMAX:
        return _several_labels(trace, way.maker, target)
    if not _is_raw(trace, way):
        return None
    told = f"nothing keeps the result of {way.op} at {way.maker.spot} within [0, 1]"
    if clamp is not None:
        told += f"; what {clamp.op} cuts off at {clamp.spot} gets no gradient"
    fix = "Hand the raw scores to binary_cross_entropy_with_logits, or apply a sigmoid first."
    sigmoid: Any = trace.engine.namespace.sigmoid
    number = call.number if clamp is None else clamp.number
    change: Change = (
        number,
        lambda inner: lambda scores, *rest, **named: inner(sigmoid(scores), *rest, **named),
    )
    return Mismatch(None, [_given(call), told], fix, change)


def _second_sigmoid(trace: Trace, call: Traced, outer: Traced, target: Array) -> Mismatch | None:
    inner = follow(trace, outer.sources[0]).maker
    if inner is None:
        return None
    below = float((target < 0.5).mean())
    if _probabilities(trace, inner):
        told = "a sigmoid of a probability lies in [0.5, 0.73]"
    elif inner.op in ops.NEVER_NEGATIVE and below:
        told = f"no sigmoid of what {inner.op} returns is below 0.5; {below:.0%} of the targets are"
    else:
        return None
    passed = f"sigmoid at {outer.spot} gets the result of {inner.op}"
    return _remove(inner, [_given(call), passed, told], "a sigmoid needs raw scores")


def _several_labels(trace: Trace, maker: Traced, target: Array) -> Mismatch | None:
    """A softmax shares out one unit of probability; samples with several labels need more."""
    softmax = f"{maker.op} at {maker.spot}"
    evidence = _several(target, softmax) or _beyond_one(target, maker)
    if evidence is None:
        return None
    fix = "Use a sigmoid for each class: binary_cross_entropy_with_logits on the raw scores."
    sigmoid: Any = trace.engine.namespace.sigmoid
    change: Change = maker.number, lambda inner: lambda scores, *rest, **named: sigmoid(scores)
    return Mismatch(maker, evidence, fix, change)


def _several(target: Array, softmax: str) -> list[str] | None:
    """What is told of targets that say yes to several classes of a sample at once."""
    if target.ndim < 2 or target.shape[1] < 2 or not np.isin(target, (0, 1)).all():
        return None
    share = float((target.sum(axis=1) > 1.5).mean())
    if share < _MANY:
        return None
    return [
        f"{share:.0%} of the samples have several labels at once",
        f"{softmax} gives all classes together a probability of 1",
    ]


def _beyond_one(target: Array, maker: Traced) -> list[str] | None:
    """What is told of targets between 0 and 1, as of pixels, that add up to more than one."""
    shape, axis = tuple(maker.outputs[0].shape), axis_of(maker)
    if len(shape) < 2 or shape[axis] < 2 or target.size != np.prod(shape):
        return None
    if target.min() < 0 or target.max() > 1:
        return None
    total = target.reshape(shape).sum(axis=axis)
    share = float((total > 1.5).mean())
    if share < _MANY:
        return None
    return [
        f"{share:.0%} of the sums of targets along axis {axis} are more than 1, {total.mean():.3g} "
        "on average",
        f"{maker.op} at {maker.spot} makes outputs along that axis that add up to 1",
    ]


def _tags(trace: Trace, call: Traced) -> Mismatch | None:
    """cross_entropy against yes and no for each class: they are no distribution.

    Of similarities, and not scores of a layer, a row may well have several right answers.
    """
    target = trace.array(call.inputs[1])
    if target.dtype.kind != "f" or feature_axis(trace, follow(trace, call.sources[0])) is None:
        return None
    evidence = _several(target, f"the softmax in {call.op} at {call.spot}")
    if evidence is None:
        return None
    none = float((target.sum(axis=1) < 0.5).mean())
    if none:
        evidence.append(f"{none:.0%} have no label at all: from those it learns nothing")
    fix = "Ask for each class by itself: binary_cross_entropy_with_logits on the raw scores."
    space: Any = trace.engine.namespace.nn.functional

    def each_by_itself(inner: Callable[..., Any]) -> Callable[..., Any]:
        return lambda scores, tags, *rest, **named: space.binary_cross_entropy_with_logits(
            scores, tags
        )

    return Mismatch(None, evidence, fix, (call.number, each_by_itself))


def poisson_nll_loss(trace: Trace, call: Traced) -> Mismatch | None:
    """poisson_nll_loss: logarithms of rates, or rates if told so."""
    way = follow(trace, call.sources[0])
    logarithms = bool(call.argument(2, "log_input", True))
    if way.maker is None:
        return None
    evidence = [_given(call), _comes_from(way.maker)]
    if logarithms and way.op in ops.EXP | ops.SOFTPLUS:
        evidence.append("log_input is True: they are exponentiated once more")
        fix = f"Remove {way.op} at {way.maker.spot}, or say log_input=False."
        return Mismatch(way.maker, evidence, fix, (way.maker.number, passed_on))
    if not logarithms and feature_axis(trace, way) is not None:
        evidence.append("log_input is False: rates must be positive, and nothing makes them so")
        return Mismatch(None, evidence, "Leave log_input at True, or apply softplus to the output.")
    return None


def distance(trace: Trace, call: Traced) -> Mismatch | None:
    """A distance between prediction and target: what the last activation cannot return."""
    return rectified_regression(trace, call) or _shared_out(trace, call)


def _shared_out(trace: Trace, call: Traced) -> Mismatch | None:
    """A softmax in front of targets that do not share out one unit."""
    maker = follow(trace, call.sources[0]).maker
    if maker is None or maker.op not in ops.SOFTMAX or not call.inputs[0].requires_grad:
        return None
    target, axis = trace.array(call.inputs[1]), axis_of(maker)
    shape = tuple(maker.outputs[0].shape)
    if target.shape != shape or shape[axis] < 2:
        return None
    off = np.abs(target.sum(axis=axis) - 1) > 0.5
    if float(off.mean()) < _MANY:
        return None
    totals = target.sum(axis=axis)
    evidence = [
        f"{maker.op} at {maker.spot} makes the outputs of a sample add up to 1",
        f"the targets add up to {totals.min():.3g} to {totals.max():.3g}: nothing can fit them",
    ]
    return _remove(maker, evidence, "a regression needs outputs that are free")


def rectified_regression(trace: Trace, call: Traced) -> Mismatch | None:
    """A distance between prediction and target: a rectifier cuts off negative targets."""
    place = next((n for n, each in enumerate(call.inputs[:2]) if each.requires_grad), None)
    if place is None or len(call.inputs) < 2 or call.inputs[1 - place].requires_grad:
        return None
    maker = follow(trace, call.sources[place]).maker
    if maker is None or not (maker.op in ops.NEVER_NEGATIVE or _clamps_at_zero(maker)):
        return None
    target = trace.array(call.inputs[1 - place]).astype(np.float64)
    below = np.minimum(target, 0)
    # Noise around targets that are meant to be positive is no reason; a real share of them is.
    if not target.size or (below**2).sum() <= 0.05 * (target**2).sum():
        return None
    evidence = [
        f"{maker.op} at {maker.spot} lets nothing below 0 through",
        f"{(target < 0).mean():.0%} of the targets are negative, down to {target.min():.3g}",
        f"they alone keep the mean squared error above {np.mean(below**2):.3g}",
    ]
    return _remove(maker, evidence, "a regression ends with a bare linear layer")


def _clamps_at_zero(call: Traced) -> bool:
    if call.op not in ops.LOWER_CLAMPS:
        return False
    return call.argument(1, "min") == 0 and call.argument(2, "max") is None


Form = Callable[[Trace, Traced], Mismatch | None]
_FORMS: tuple[tuple[ops.Family, Form], ...] = (
    (ops.BINARY_CROSS_ENTROPY, binary_cross_entropy),
    (ops.BINARY_WITH_LOGITS, with_logits),
    (ops.CROSS_ENTROPY, cross_entropy),
    (ops.DISTANCE_LOSSES, distance),
    (ops.KL_DIV, kl_div),
    (ops.NLL_LOSS, _logarithms),
    (ops.POISSON_NLL_LOSS, poisson_nll_loss),
)


def form_of(loss: str) -> Form | None:
    """What judges the input of a loss; None for one that takes any."""
    return next((form for family, form in _FORMS if loss in family), None)
