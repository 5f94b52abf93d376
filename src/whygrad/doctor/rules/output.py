"""The output does not fit the loss: scores where probabilities are expected, or the reverse.

Each loss function expects its input in one form.  What the model hands it is known from the call
that computed it: a sigmoid gives probabilities, a linear layer raw scores, log_softmax logarithms
of probabilities.  Where a form can be told from the values too (log-probabilities are not above 0
and their exponentials sum to 1), the values have to agree before anything is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from whygrad.autograd.source import Where
from whygrad.doctor.case import Case
from whygrad.doctor.flow import (
    Way,
    feature_axis,
    first_traces,
    follow,
    is_sigmoid,
    line_of,
    shape_of,
)
from whygrad.doctor.replay import Trace, Traced
from whygrad.doctor.rule import Finding, rule
from whygrad.doctor.rules.softmax import SYMPTOMS, first_line, sums_to_one
from whygrad.doctor.vocabulary import LINEAR, LOSSES, NORMALIZERS

__all__ = ["wrong_output_activation"]

_TWO_SIDED = frozenset(("tanh", "tanh_", "softsign", "hardtanh", "hardtanh_"))
_NEVER_NEGATIVE = frozenset(("relu", "relu_", "relu6", "softplus", "threshold"))
_NEVER_POSITIVE = frozenset(("log_softmax", "logsigmoid"))
_BENT = frozenset(
    ("gelu", "silu", "leaky_relu", "leaky_relu_", "elu", "elu_", "selu", "celu", "mish", "prelu")
)
_RAW = LINEAR | NORMALIZERS | frozenset(("add", "add_"))
_DISTANCES = frozenset(("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"))
_SCORES = "raw scores (logits)"

Verdict = tuple[Traced | None, list[str], str]  # the call at fault, evidence, fix


@rule(
    id="wrong-output-activation",
    severity=2,
    title="The output does not have the form that the loss expects",
    meaning=(
        "Some losses want raw scores and apply the sigmoid or softmax themselves, others want "
        "probabilities or their logarithms. With the wrong form the loss still computes a number, "
        "but not the one that is meant: it has a floor that training cannot get below, no floor at "
        "all, or no gradient for a part of the targets."
    ),
    measured=(
        "The input of the loss is followed back through reshaping and indexing to the call that "
        "computed it, and its values are compared with the form that the loss needs."
    ),
    fix=(
        "Match them: raw scores for cross_entropy and binary_cross_entropy_with_logits, "
        "probabilities for binary_cross_entropy, log_softmax for nll_loss and kl_div, and no "
        "rectifier on a regression whose targets can be negative."
    ),
    guardrail="assert not isinstance(list(model.children())[-1], (nn.Sigmoid, nn.Softmax, nn.ReLU))",
    explains=(
        *SYMPTOMS, "nan-from-log", "unstable-loss", "missing-nonlinearity", "nan-from-division",
    ),
    thresholds={"unreachable": 0.05, "cut": 0.25, "several": 0.2},
    cleared=lambda case: _cleared(case),
)  # fmt: skip
def wrong_output_activation(case: Case) -> Iterator[Finding]:
    seen: set[str] = set()
    for trace in first_traces(case):
        for call in trace.calls:
            found = _judge(case, trace, call)
            if found is None:
                continue
            fault, evidence, fix = found
            where = call.where if fault is None else line_of(case, trace, fault)
            if str(where) not in seen:
                seen.add(str(where))
                yield wrong_output_activation.finding(
                    where=where,
                    step=trace.snapshot.step,
                    confidence=0.95,
                    evidence=evidence,
                    fix=fix,
                    places=[("the loss", call.where)] if fault is not None else [],
                )
    yield from _raised(case)


def _judge(case: Case, trace: Trace, call: Traced) -> Verdict | None:
    """What is wrong with the input of a loss, if anything is."""
    check = _CHECKS.get(call.op)
    if call.op in ("sub", "rsub") and check is None:
        reading = case.reading(trace.snapshot)
        if reading is not None and reading.meeting is call:
            return _regression(case, trace, call)
    if check is None or not call.inputs or len(call.inputs) < 2:
        return None
    return check(case, trace, call)


def _given(call: Traced) -> str:
    found = call.before[0]
    return (
        f"{call.op} at line {call.where.line} gets values from {found.low:.3g} to {found.high:.3g}"
    )


def _comes_from(maker: Traced) -> str:
    return f"they come from {maker.op} at line {maker.where.line}"


def _probabilities(trace: Trace, maker: Traced | None) -> bool:
    return is_sigmoid(trace, maker) or (maker is not None and maker.op == "softmax")


def _is_raw(trace: Trace, way: Way) -> bool:
    """Whether the value is a layer's result, with or without an ordinary activation."""
    if way.maker is None:
        return False
    if feature_axis(trace, way) is not None or way.op in _BENT | _NEVER_NEGATIVE | _TWO_SIDED:
        return True
    return way.op in NORMALIZERS


def _with_logits(case: Case, trace: Trace, call: Traced) -> Verdict | None:
    maker = follow(trace, call.sources[0]).maker
    if maker is None or not call.inputs[0].requires_grad:
        return None
    target = trace.array(call.inputs[1])
    evidence = [_given(call), _comes_from(maker)]
    if _probabilities(trace, maker):
        evidence.append(
            "a score in [0, 1] is a probability in [0.5, 0.73] after the second sigmoid"
        )
    elif maker.op in _TWO_SIDED:
        evidence.append("a score in [-1, 1] is a probability in [0.27, 0.73]")
    elif maker.op in _NEVER_NEGATIVE and (target < 0.5).any():
        share = float((target < 0.5).mean())
        evidence.append(
            f"no score is below 0, so no probability is below 0.5, but {share:.0%} of the targets are"
        )
    elif maker.op in _NEVER_POSITIVE and (target > 0.5).any():
        share = float((target > 0.5).mean())
        evidence.append(
            f"no score is above 0, so no probability is above 0.5, but {share:.0%} of the targets are"
        )
    else:
        return None
    return (
        maker,
        evidence,
        (
            f"binary_cross_entropy_with_logits applies the sigmoid itself: remove {maker.op} at line "
            f"{maker.where.line} and hand over {_SCORES}."
        ),
    )


def _cross_entropy(case: Case, trace: Trace, call: Traced) -> Verdict | None:
    """Scores for a softmax, inside the loss or in a log_softmax before it."""
    maker = follow(trace, call.sources[0]).maker
    if maker is None or not call.inputs[0].requires_grad:
        return None
    shape = shape_of(call.inputs[0])
    classes = shape[1] if len(shape) > 1 else shape[0]
    evidence = [_given(call), _comes_from(maker)]
    if is_sigmoid(trace, maker) or maker.op in _TWO_SIDED or maker.op == "logsigmoid":
        reach = 2.0 if maker.op in _TWO_SIDED else 1.0
        if maker.op != "logsigmoid":
            best = float(np.log1p((classes - 1) * np.exp(-reach)))
            evidence.append(
                f"scores that are at most {reach:g} apart cannot bring the loss over {classes} "
                f"classes below {best:.3f}"
            )
        else:
            evidence.append("no score can be above 0")
    elif maker.op in _NEVER_NEGATIVE and _cut(case, trace, call) >= case.limit("cut"):
        evidence.append(
            f"in {_cut(case, trace, call):.0%} of the samples that are still answered wrongly, the "
            "score of the right class is cut to 0 and gets no gradient"
        )
    else:
        return None
    return (
        maker,
        evidence,
        (
            f"Remove {maker.op} at line {maker.where.line}: the softmax needs {_SCORES}, "
            "negative and positive."
        ),
    )


def _cut(case: Case, trace: Trace, call: Traced) -> float:
    """The part of the samples that are wrong because a rectifier blocks the right class."""
    course = next((each for each in case.courses if each.first is trace.snapshot), None)
    later = case.trace(course.last) if course is not None else None
    if later is None:
        return 0.0
    same = [each for each in later.calls if each.op == call.op and each.where == call.where]
    if not same or len(shape_of(same[-1].inputs[0])) != 2:
        return 0.0
    scores, target = (later.array(each) for each in same[-1].inputs[:2])
    if target.ndim != 1 or target.dtype.kind not in "iu" or (target < 0).any():
        return 0.0
    right = scores[np.arange(len(target)), target]
    return float(((right <= 0) & (scores.max(axis=1) >= right)).mean())


def _log_softmax(case: Case, trace: Trace, call: Traced) -> Verdict | None:
    """Before nll_loss and kl_div: what goes into the log_softmax is judged as for cross_entropy."""
    inner = follow(trace, call.sources[0]).maker
    if inner is None or inner.op != "log_softmax":
        return None
    maker = follow(trace, inner.sources[0]).maker
    if maker is None or not (is_sigmoid(trace, maker) or maker.op in _TWO_SIDED):
        return None
    return (
        maker,
        [
            f"the scores of log_softmax at line {inner.where.line} lie between "
            f"{inner.before[0].low:.3g} and {inner.before[0].high:.3g}",
            _comes_from(maker),
        ],
        f"Remove {maker.op} at line {maker.where.line}: log_softmax needs {_SCORES}.",
    )


def _log_normalized(values: np.ndarray[Any, Any]) -> bool:
    """Whether the exponentials sum to one along some axis, or nearly so."""
    if not values.size:
        return True
    with np.errstate(all="ignore"):
        powers = np.exp(values.astype(np.float64))
    return any(
        bool(np.nanmax(np.abs(powers.sum(axis=axis) - 1)) < 0.05) for axis in range(values.ndim)
    )


def _nll(case: Case, trace: Trace, call: Traced) -> Verdict | None:
    way = follow(trace, call.sources[0])
    values = trace.array(call.inputs[0])
    if way.maker is None or not call.inputs[0].requires_grad or not np.isfinite(values).all():
        return None
    if way.op == "log_softmax":
        return _log_softmax(case, trace, call)
    if _log_normalized(values):
        return None
    if _probabilities(trace, way.maker):
        told = (
            "nll_loss is minus the input at the label: with probabilities it only moves in [-1, 0]"
        )
        return (
            way.maker,
            [_given(call), _comes_from(way.maker), told],
            (
                f"nll_loss needs logarithms of probabilities: log_softmax instead of {way.op} at line "
                f"{way.maker.where.line}, or cross_entropy on {_SCORES}."
            ),
        )
    if not _is_raw(trace, way):
        return None
    told = "nothing normalises these scores, so the loss falls without end as they grow"
    return (
        None,
        [_given(call), _comes_from(way.maker), told],
        ("nll_loss needs log_softmax(scores, dim=1); cross_entropy does both at once."),
    )


def _kl_div(case: Case, trace: Trace, call: Traced) -> Verdict | None:
    way = follow(trace, call.sources[0])
    values, target = trace.array(call.inputs[0]), trace.array(call.inputs[1])
    logarithms = bool(call.argument(5, "log_target", False))
    if not logarithms and target.size and target.min() < -1e-6:
        return (
            None,
            [
                f"the target of kl_div at line {call.where.line} goes down to {target.min():.3g}: "
                "these are logarithms, and log_target is False",
            ],
            "Give kl_div probabilities as the target, or say log_target=True.",
        )
    if logarithms and target.size and target.min() >= 0 and target.max() > 0:
        return (
            None,
            [
                f"the target of kl_div at line {call.where.line} lies between {target.min():.3g} and "
                f"{target.max():.3g}: these are no logarithms of probabilities, and log_target is True",
            ],
            "Give kl_div log-probabilities as the target, or say log_target=False.",
        )
    if way.op == "log_softmax":
        return _log_softmax(case, trace, call)
    if way.maker is None or _log_normalized(values):
        return None
    if _probabilities(trace, way.maker) or sums_to_one(values, values.ndim - 1):
        return (
            way.maker,
            [_given(call), _comes_from(way.maker), "log-probabilities are never above 0"],
            (
                f"kl_div needs the logarithm of the prediction: log_softmax instead of {way.op} at line "
                f"{way.maker.where.line}."
            ),
        )
    if not _is_raw(trace, way):
        return None
    return (
        None,
        [_given(call), _comes_from(way.maker), "they are not log-probabilities"],
        ("kl_div needs log_softmax(scores, dim=-1)."),
    )


def _binary(case: Case, trace: Trace, call: Traced) -> Verdict | None:
    """binary_cross_entropy: probabilities from one sigmoid over free scores."""
    way = follow(trace, call.sources[0])
    clamp = way.maker if way.op in ("clamp", "clamp_", "clamp_min", "clamp_max") else None
    if clamp is not None:
        way = follow(trace, clamp.sources[0])
    if way.maker is None or not call.inputs[0].requires_grad:
        return None
    if is_sigmoid(trace, way.maker):
        return _second_sigmoid(trace, call, way.maker)
    if way.op == "softmax":
        return _several_labels(case, trace, call, way.maker)
    if not _is_raw(trace, way):
        return None
    told = f"nothing keeps the result of {way.op} at line {way.maker.where.line} within [0, 1]"
    if clamp is not None:
        told += f"; what {clamp.op} cuts off at line {clamp.where.line} gets no gradient"
    return (
        None,
        [_given(call), told],
        (
            f"Hand the {_SCORES} to binary_cross_entropy_with_logits, or apply a sigmoid to them first."
        ),
    )


def _second_sigmoid(trace: Trace, call: Traced, outer: Traced) -> Verdict | None:
    inner = follow(trace, outer.sources[0]).maker
    if inner is None:
        return None
    target = trace.array(call.inputs[1])
    if _probabilities(trace, inner):
        told = "a sigmoid of a probability lies in [0.5, 0.73]"
    elif inner.op in _NEVER_NEGATIVE and (target < 0.5).any():
        share = float((target < 0.5).mean())
        told = f"a sigmoid of what {inner.op} lets through is at least 0.5; {share:.0%} of the targets are below"
    else:
        return None
    return (
        inner,
        [_given(call), f"sigmoid at line {outer.where.line} gets the result of {inner.op}", told],
        (f"Remove {inner.op} at line {inner.where.line}: the sigmoid needs {_SCORES}."),
    )


def _several_labels(case: Case, trace: Trace, call: Traced, maker: Traced) -> Verdict | None:
    """A softmax shares out one unit of probability; samples with several labels need more."""
    target = trace.array(call.inputs[1])
    if target.ndim < 2 or target.shape[1] < 2:
        return None
    share = float((target.sum(axis=1) > 1.5).mean())
    if share < case.limit("several"):
        return None
    return (
        maker,
        [
            f"{share:.0%} of the samples have several labels at once",
            f"the softmax at line {maker.where.line} gives all classes together a probability of 1",
        ],
        "Use a sigmoid for each class: binary_cross_entropy_with_logits on the raw scores.",
    )


def _regression(case: Case, trace: Trace, call: Traced) -> Verdict | None:
    """A rectifier at the output, and targets on the side that it cuts off."""
    place = next((n for n, each in enumerate(call.inputs[:2]) if each.requires_grad), None)
    if place is None or len(call.inputs) < 2 or call.inputs[1 - place].requires_grad:
        return None
    maker = follow(trace, call.sources[place]).maker
    if maker is None or maker.op not in _NEVER_NEGATIVE - {"relu6"}:
        return None
    target = trace.array(call.inputs[1 - place]).astype(np.float64)
    spread = float(np.sqrt(np.mean(target**2))) if target.size else 0.0
    below = np.minimum(target, 0)
    if not spread or np.sqrt(np.mean(below**2)) < np.sqrt(case.limit("unreachable")) * spread:
        return None
    share = float((target < 0).mean())
    return (
        maker,
        [
            f"{maker.op} at line {maker.where.line} lets nothing below 0 through",
            f"{share:.0%} of the targets are negative, down to {target.min():.3g}",
            f"they alone keep the mean squared error above {np.mean(below**2):.3g}",
        ],
        f"Leave out {maker.op} after the last layer: a regression output is the bare linear layer.",
    )


def _poisson(case: Case, trace: Trace, call: Traced) -> Verdict | None:
    way = follow(trace, call.sources[0])
    logarithm = bool(call.argument(2, "log_input", True))
    if way.maker is None or not call.inputs[0].requires_grad:
        return None
    if logarithm and way.op in ("exp", "softplus"):
        return way.maker, [_given(call), _comes_from(way.maker), "log_input is True: they are taken "
                           "as logarithms and exponentiated again"], (
            f"Remove {way.op} at line {way.maker.where.line}, or say log_input=False."
        )  # fmt: skip
    if not logarithm and feature_axis(trace, way) is not None:
        return None, [_given(call), _comes_from(way.maker), "log_input is False: rates must be "
                      "positive, and nothing makes them so"], (
            "Leave log_input at True, or apply softplus to the output."
        )  # fmt: skip
    return None


_CHECKS = {
    "binary_cross_entropy": _binary,
    "binary_cross_entropy_with_logits": _with_logits,
    "cross_entropy": _cross_entropy,
    "kl_div": _kl_div,
    "nll_loss": _nll,
    "poisson_nll_loss": _poisson,
    **dict.fromkeys(_DISTANCES, _regression),
}


def _raised(case: Case) -> Iterator[Finding]:
    """A loss that refused its input."""
    failure = case.run.failure
    if failure is None or failure.op != "binary_cross_entropy" or not failure.args:
        return
    engine = case.run.engine or _engine_of(failure.args[0])
    values = engine.array(failure.args[0])
    if not np.isfinite(values).all() or (values.min() >= 0 and values.max() <= 1):
        return
    where: Where = failure.where
    yield wrong_output_activation.finding(
        where=where,
        step=len(case.run.passes),
        confidence=0.95,
        evidence=[
            f"binary_cross_entropy was given values from {values.min():.3g} to {values.max():.3g}, "
            "and probabilities lie between 0 and 1",
            f"it raised {type(failure.error).__name__}: {first_line(failure.error)}",
        ],
        fix=f"Hand the {_SCORES} to binary_cross_entropy_with_logits, or apply a sigmoid first.",
    )


def _engine_of(tensor: Any) -> Any:
    from whygrad.doctor.engines import engine_of

    return engine_of(tensor)


def _cleared(case: Case) -> str | None:
    for trace in first_traces(case):
        for call in trace.calls:
            if call.op in LOSSES and call.op in _CHECKS and call.before:
                maker = follow(trace, call.sources[0]).maker
                if maker is not None:
                    return f"{call.op} gets the result of {maker.op}, as it should"
    return None
