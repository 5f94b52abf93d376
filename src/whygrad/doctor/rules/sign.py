"""Training that goes uphill: the error of the prediction grows with every step.

A negative loss is no evidence: log-likelihoods, rewards and adversaries have them.  Evidence is an
error whose sign is wrong.  The parts of a loss that measure how far a prediction is from a given
target are found, and the sign with which each enters the loss is followed call by call: a ``-``, a
difference, a factor.  Where the sign depends on data (an advantage, a weight that may be negative)
nothing is said, nor where one error is traded against another, nor about a network that is trained
against another one's loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.autograd.source import Where
from whygrad.doctor.case import Case
from whygrad.doctor.flow import first_traces, follow, sums_to_one
from whygrad.doctor.reading import Reading, Term
from whygrad.doctor.record import Course
from whygrad.doctor.replay import Trace, Traced, loss_at
from whygrad.doctor.rule import Finding, rule
from whygrad.doctor.symptoms import POOR_LEARNING
from whygrad.doctor.tape import Produced
from whygrad.doctor.vocabulary import LOSSES, RESHAPING

__all__ = ["loss_sign"]

_RISING = RESHAPING | frozenset(
    (
        "mean", "sum", "nanmean", "nansum", "add", "add_", "cat", "stack", "getitem", "slice",
        "select", "index", "masked_select", "log", "log1p", "sqrt", "exp", "relu", "softplus",
        "clamp", "clamp_min", "clamp_max", "where", "masked_fill", "logsumexp", "pow", "square",
        "amax", "unbind", "split", "chunk",
    )
)  # fmt: skip
_POSITIVE = frozenset(
    ("exp", "softplus", "pow", "square", "abs", "sigmoid", "softmax", "relu", "sqrt", "var", "std")
)


@dataclass(eq=False)
class Measure:
    """A part of the loss that says how good the prediction is."""

    call: Traced
    wanted: int  # 1: an error, to be made small; -1: a likelihood or a similarity
    name: str


@dataclass(eq=False)
class Sign:
    """How a measure enters the loss: with +1, -1, or as the data will have it (None)."""

    value: int | None
    turned_at: list[Traced]  # the calls that turned it around


@rule(
    id="loss-sign",
    severity=2,
    title="Training goes uphill: the error is maximised",
    meaning=(
        "The optimizer makes the loss small. Here the error of the prediction enters the loss with "
        "a minus, or a likelihood without one, or the update follows the gradient instead of "
        "going against it. The model gets worse with every step."
    ),
    measured=(
        "The sign with which each error, likelihood or similarity enters the loss, followed "
        "through the calls; the direction of the first update against the gradient; and the "
        "error before and after training."
    ),
    fix="Minimise the error: loss = criterion(output, target), or minus the mean log-likelihood.",
    guardrail="assert loss.item() >= 0  # for errors that cannot be negative",
    explains=(
        *POOR_LEARNING, "overflow-in-exp", "nan-from-log", "nan-from-division", "unstable-loss",
        "float16-range", "outlier-batch",
    ),
    cleared=lambda case: _cleared(case),
)  # fmt: skip
def loss_sign(case: Case) -> Iterator[Finding]:
    for course in case.courses:
        trace = case.trace(course.first)
        reading = case.reading(course.first)
        if trace is None or reading is None or not _is_its_own(case, course, reading):
            continue
        judged = [(each, _sign(trace, each)) for each in _measures(reading)]
        if not judged or any(sign.value is None for _, sign in judged):
            continue
        directions = {measure.wanted * (sign.value or 0) for measure, sign in judged}
        uphill = _goes_uphill(course, trace)
        if directions == {-1} and not uphill:
            yield from _turned(case, course, trace, judged)
        elif directions == {1} and uphill:
            yield from _ascending(case, course, trace, judged)


def _is_its_own(case: Case, course: Course, reading: Reading) -> bool:
    """Whether all that this loss trains belongs to this course: an adversary trains another's."""
    own = {id(each.tensor) for each in course.parameters}
    attacked = reading.models and all(each.module is None for each in course.parameters)
    if attacked:  # an input is trained against a model that stays as it is
        return False
    reached = set(reading.trace.gradients) or set(reading.trace.parameters)
    return bool(own & reached) and all(
        name in own or not _is_trained_elsewhere(case, name) for name in reached
    )


def _is_trained_elsewhere(case: Case, name: int) -> bool:
    known = case.run.parameters.get(name)
    return known is not None and (known.module is not None or bool(known.optimizers))


# --- what measures the prediction -----------------------------------------------------------------


def _measures(reading: Reading) -> list[Measure]:
    trace = reading.trace
    found: list[Measure] = []
    for term in reading.terms:
        if term.target is None or _is_sampled(trace, term):
            continue
        if term.call.op in LOSSES:
            found.append(Measure(term.call, 1, term.call.op))
        elif term.call.op in ("sub", "sub_", "rsub"):
            found += [Measure(each, 1, "the error") for each in _sizes(trace, term.call)]
        elif term.call.op == "cosine_similarity":
            found.append(Measure(term.call, -1, "the similarity"))
        elif term.call.op == "mul":
            found += _weighted_logarithm(trace, term)
        elif _is_logarithm(trace, term.source):
            found.append(Measure(term.call, -1, "the log-likelihood"))
    return found


def _is_sampled(trace: Trace, term: Term) -> bool:
    """Whether the target was made from the model's own output: an action, a pseudo-label."""
    made = trace.made_by(term.target_source)
    if made is None:
        return False
    numbers = {made.number, *trace.ancestors(made)}
    return any(
        given.requires_grad
        for each in trace.calls
        if each.number in numbers
        for given in each.inputs
    )


def _sizes(trace: Trace, difference: Traced) -> list[Traced]:
    """Where a difference loses its sign: squared, or its absolute value taken."""
    users = trace.consumers(Produced(difference.number, 0))
    return [each for each in users if _forgets_sign(each)]


def _forgets_sign(call: Traced) -> bool:
    if call.op in ("pow", "pow_"):
        exponent = call.argument(1, "exponent", 2)
        return isinstance(exponent, (int, float)) and exponent % 2 == 0
    if call.op == "mul":
        return len(call.sources) == 2 and call.sources[0] == call.sources[1]
    return call.op in ("square", "abs", "norm")


def _is_logarithm(trace: Trace, source: Produced | None) -> bool:
    """Whether a value is a log-probability."""
    maker = follow(trace, source).maker
    if maker is None:
        return False
    if maker.op in ("log", "log_softmax", "logsigmoid"):
        return True
    if maker.op != "sub" or len(maker.sources) < 2:
        return False
    return follow(trace, maker.sources[1]).op in ("logsumexp", "log")


def _weighted_logarithm(trace: Trace, term: Term) -> list[Measure]:
    """``target * log p`` with the target a distribution, or with ``(1 - target) * log(1 - p)``."""
    target = trace.array(term.target)
    if not _is_logarithm(trace, term.source) or not target.size:
        return []
    if target.min() < 0 or target.max() > 1:
        return []
    whole = target.ndim > 1 and target.shape[-1] > 1 and sums_to_one(target, target.ndim - 1)
    if whole or _has_twin(trace, term, target):
        return [Measure(term.call, -1, "the log-likelihood")]
    return []


def _has_twin(trace: Trace, term: Term, target: np.ndarray[Any, Any]) -> bool:
    """Whether another product weights a logarithm with one minus the target."""
    for each in trace.calls:
        if each is term.call or each.op != "mul" or len(each.inputs) != 2:
            continue
        for given, source in zip(each.inputs, each.sources[::-1]):
            if given.requires_grad or tuple(given.shape) != target.shape:
                continue
            if np.allclose(trace.array(given) + target, 1) and _is_logarithm(trace, source):
                return True
    return False


# --- with which sign ------------------------------------------------------------------------------


def _sign(trace: Trace, measure: Measure) -> Sign:
    """The sign of a measure in the loss, through everything that is computed from it."""
    start = measure.call
    signs: dict[int, int | None] = {start.number: 1}
    turned: list[Traced] = []
    for call in trace.calls:
        places = [n for n, source in enumerate(call.sources) if source and source.call in signs]
        if call.number <= start.number or not places:
            continue
        reached: set[int | None] = set()
        for place in places:
            source = call.sources[place]
            assert source is not None
            before, turn = signs[source.call], _turn(trace, call, place, measure)
            reached.add(None if before is None or turn is None else before * turn)
            if turn == -1:
                turned.append(call)
        signs[call.number] = reached.pop() if len(reached) == 1 else None
    root = trace.root
    return Sign(None if root is None else signs.get(root.number), turned)


def _turn(trace: Trace, call: Traced, place: int, measure: Measure) -> int | None:
    """Whether a call keeps the sign of what goes in at ``place`` (1), turns it (-1), or depends."""
    given = call.inputs[place]
    first = bool(call.args) and call.args[0] is given
    if call.op in ("add", "add_") and not first:
        return _sign_of(call.kwargs.get("alpha", 1))
    if call.op == "pow" and not first:
        return None
    if call.op in _RISING:
        return 1
    if call.op in ("neg", "neg_"):
        return -1
    if call.op in ("sub", "sub_"):
        return 1 if first else -1
    if call.op == "rsub":
        return -1 if first else 1
    if call.op in ("mul", "mul_", "div", "div_"):
        if call.op.startswith("div") and not first:
            return None
        others = [each for each in call.args if each is not given]
        return _factor(trace, call, others[0], measure) if len(others) == 1 else None
    return None


def _sign_of(number: Any) -> int | None:
    if not isinstance(number, (int, float)) or number == 0:
        return None
    return 1 if number > 0 else -1


def _factor(trace: Trace, call: Traced, other: Any, measure: Measure) -> int | None:
    """The sign of a factor: a number's own; that of a mask or of a positive function is 1."""
    if isinstance(other, (int, float)):
        return _sign_of(other)
    place = next((n for n, each in enumerate(call.inputs) if each is other), None)
    if place is None:
        return None
    values = trace.array(other)
    if values.size and np.isin(values, (0, 1)).all():
        # Zeros and ones on an error are a mask; on a log-likelihood they may be rewards or costs.
        return 1 if measure.wanted > 0 else None
    maker = follow(trace, call.sources[place]).maker
    if maker is not None and maker.op in ("mul", "mul_") and maker.sources:  # 2 * sigma ** 2
        maker = follow(trace, maker.sources[0]).maker
    positive = maker is not None and maker.op in _POSITIVE and bool((values > 0).all())
    return 1 if positive else None


# --- which way the update goes --------------------------------------------------------------------


def _goes_uphill(course: Course, trace: Trace) -> bool:
    """Whether the first update went along the gradient of the loss."""
    if course.optimizer.options.get("maximize"):
        return True
    if len(course.steps[0].passes) != 1 or not trace.exact:
        return False
    dot = ours = theirs = 0.0
    for name, gradient in trace.gradients.items():
        before, after = trace.snapshot.values.get(name), course.after.get(name)
        if before is None or after is None:
            continue
        engine = trace.engine
        change = engine.array(after).astype(np.float64) - engine.array(before)
        dot += float((change * gradient).sum())
        ours += float((change**2).sum())
        theirs += float((gradient.astype(np.float64) ** 2).sum())
    if not (ours > 0 and theirs > 0):
        return False
    return dot / float(np.sqrt(ours * theirs)) > 0.2


# --- findings -------------------------------------------------------------------------------------

Judged = list[tuple[Measure, Sign]]


def _later_loss(course: Course, trace: Trace) -> float | None:
    """The loss of the first batch with the latest parameters."""
    last = course.last
    if last is None or last is course.first or not trace.exact:
        return None
    value = loss_at(trace.snapshot, last.values)
    return value if np.isfinite(value) else None


def _turned(case: Case, course: Course, trace: Trace, judged: Judged) -> Iterator[Finding]:
    """The loss has the wrong sign: the optimizer did its work, and the error grew."""
    later = _later_loss(course, trace)
    if later is not None and later > trace.loss:
        return
    if not _same_signs_later(case, course, judged):
        return
    measure, sign = judged[0]
    where = _where(trace, measure, sign)
    better = "small" if measure.wanted > 0 else "large"
    evidence = [
        f"{measure.name} at line {measure.call.where.line} enters the loss with a "
        f"{'plus' if (sign.value or 0) > 0 else 'minus'}, so a smaller loss means "
        f"{'a larger' if measure.wanted > 0 else 'a smaller'} one; it should become {better}",
    ]
    if later is not None:
        evidence.append(
            f"on the first batch the loss went from {trace.loss:.4g} to {later:.4g} by the last "
            "steps: by so much the predictions got worse"
        )
    yield loss_sign.finding(
        where=where,
        step=trace.snapshot.step,
        confidence=0.95,
        evidence=evidence,
        fix=f"Turn the sign around at line {where.line}: "
        + ("drop the minus." if measure.wanted > 0 else "minimise minus the log-likelihood."),
        places=[("measured here", measure.call.where)],
    )


def _same_signs_later(case: Case, course: Course, judged: Judged) -> bool:
    """A factor that changes from step to step is data, such as a reward, and not a sign."""
    reading = case.reading(course.last)
    if reading is None or course.last is course.first:
        return True
    later = [_sign(reading.trace, each).value for each in _measures(reading)]
    return later == [sign.value for _, sign in judged]


def _where(trace: Trace, measure: Measure, sign: Sign) -> Where:
    """The line of the last minus; without one, the line where it is missing: that of the loss."""
    root = trace.root
    assert root is not None
    if measure.wanted > 0 and sign.turned_at:
        turned = sign.turned_at[-1].where
        if "log_prob" not in turned.text:  # its own minus is right
            return turned
    return root.where


def _ascending(case: Case, course: Course, trace: Trace, judged: Judged) -> Iterator[Finding]:
    """The loss is right and the update goes the wrong way."""
    later = _later_loss(course, trace)
    if later is not None and later < trace.loss:
        return
    optimizer = course.optimizer
    maximize = bool(optimizer.options.get("maximize"))
    where = optimizer.made_at if optimizer.thing is not None else course.steps[0].where
    how = (
        f"{optimizer.kind} was made with maximize=True"
        if maximize
        else "the first update moved the parameters along the gradient, not against it"
    )
    evidence = [how, f"the loss is an error to be made small: {judged[0][0].name}"]
    if later is not None:
        evidence.append(f"on the first batch it went from {trace.loss:.4g} to {later:.4g}")
    yield loss_sign.finding(
        where=where,
        step=trace.snapshot.step,
        confidence=0.95,
        evidence=evidence,
        fix="Drop maximize=True." if maximize else "Subtract: w -= lr * w.grad.",
    )


def _cleared(case: Case) -> str | None:
    for trace in first_traces(case):
        reading = case.reading(trace.snapshot)
        for measure in _measures(reading) if reading is not None else ():
            sign = _sign(trace, measure).value
            if sign is not None and sign * measure.wanted > 0:
                name = measure.name
                return f"{name} enters the loss with a {'plus' if sign > 0 else 'minus'}"
    return None
