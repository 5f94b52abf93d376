"""A column of predictions against a row of targets: every prediction meets every target."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from whygrad.doctor.case import Case
from whygrad.doctor.flow import first_line, first_traces, shape_of
from whygrad.doctor.reading import Term
from whygrad.doctor.replay import Trace, Traced
from whygrad.doctor.rule import Finding, rule
from whygrad.doctor.symptoms import POOR_LEARNING
from whygrad.doctor.vocabulary import RESHAPING

__all__ = ["loss_broadcast"]

Shape = tuple[int, ...]

_ELEMENTWISE = frozenset(
    (
        "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
        "binary_cross_entropy_with_logits", "poisson_nll_loss", "gaussian_nll_loss", "kl_div",
        "soft_margin_loss", "hinge_embedding_loss",
    )
)  # fmt: skip
# What may stand between a difference and the sum of its square: nothing that picks or compares.
_MEASURING = RESHAPING | frozenset(
    (
        "pow", "pow_", "square", "abs", "mul", "mul_", "div", "div_", "rdiv", "neg", "add", "add_",
        "sub", "rsub", "sqrt", "log", "log1p", "cosh", "norm", "mean", "sum", "nanmean", "nansum",
        "clamp", "clamp_min", "relu", "where", "lt", "le", "gt", "ge", "getitem", "slice", "index",
        "masked_select",
    )
)  # fmt: skip


@rule(
    id="loss-broadcast",
    severity=2,
    title="The loss compares every prediction with every target",
    meaning=(
        "Predictions of shape [N, 1] and targets of shape [N] broadcast to N × N: each prediction "
        "is compared with all targets, not with its own. The best that such a loss allows is the "
        "mean of the targets for every input."
    ),
    measured="The shapes of prediction and target where they meet in the loss.",
    fix="Bring both to one shape: prediction.squeeze(1), or target.unsqueeze(1).",
    guardrail="assert prediction.shape == target.shape, (prediction.shape, target.shape)",
    explains=POOR_LEARNING,
    cleared=lambda case: _same_shapes(case),
)
def loss_broadcast(case: Case) -> Iterator[Finding]:
    seen: set[str] = set()
    for trace in first_traces(case):
        reading = case.reading(trace.snapshot)
        assert reading is not None
        for term in reading.terms:
            if _broadcasts(trace, term) and str(term.call.where) not in seen:
                seen.add(str(term.call.where))
                yield _about_shapes(trace, term)
    yield from _raised(case)


def _raised(case: Case) -> Iterator[Finding]:
    """The same shapes where they cannot be broadcast, or where the loss refuses to."""
    failure = case.run.failure
    if failure is None or failure.op not in _ELEMENTWISE | {"sub", "rsub"}:
        return
    shapes = [shape_of(each) for each in failure.args[:2] if hasattr(each, "shape")]
    if len(shapes) == 2 and len(shapes[0]) != len(shapes[1]) and _same_numbers(*shapes):
        yield loss_broadcast.finding(
            where=failure.where,
            step=len(case.run.passes),
            confidence=0.9,
            evidence=[
                f"{failure.op} was given {list(shapes[0])} and {list(shapes[1])}",
                f"it raised {type(failure.error).__name__}: {first_line(failure.error)}",
            ],
        )


def _same_numbers(one: Shape, other: Shape) -> bool:
    """Whether two shapes differ only in axes of length 1."""
    return [each for each in one if each > 1] == [each for each in other if each > 1] != []


def _is_crossed(one: Shape, other: Shape) -> bool:
    """Two shapes that hold the same numbers and broadcast to more of them: [N, 1] and [N]."""
    if len(one) == len(other) or not _same_numbers(one, other):
        return False
    try:
        size = math.prod(np.broadcast_shapes(one, other))
    except ValueError:
        return False
    return size > max(math.prod(one), math.prod(other))


def _broadcasts(trace: Trace, term: Term) -> bool:
    if term.target is None:
        return False
    call = term.call
    one, other = shape_of(term.prediction), shape_of(term.target)
    if call.op in _ELEMENTWISE:
        return _is_crossed(one, other)
    if call.op not in ("sub", "sub_", "rsub", "mul", "div") or not _is_crossed(one, other):
        return False
    return _is_measured(trace, call)


def _is_measured(trace: Trace, call: Traced) -> bool:
    """Whether a result goes straight into a mean or sum, as an error does; not so for a kernel."""
    reached = {call.number}
    for each in trace.calls:
        places = [n for n, source in enumerate(each.sources) if source and source.call in reached]
        if not places:
            continue
        if each.op not in _MEASURING:
            return False
        reached.add(each.number)
        if each.op in ("add", "add_", "sub", "rsub") and _meets_more_data(each, places):
            return False
    return True


def _meets_more_data(call: Traced, places: list[int]) -> bool:
    """A target further on: then the broadcasting before it belongs to the model."""
    return any(
        n not in places and not given.requires_grad and given.numel() > 1
        for n, given in enumerate(call.inputs)
    )


def _about_shapes(trace: Trace, term: Term) -> Finding:
    call = term.call
    one, other = shape_of(term.prediction), shape_of(term.target)
    result = np.broadcast_shapes(one, other)
    rows = max(one[0], other[0])
    return loss_broadcast.finding(
        where=call.where,
        step=trace.snapshot.step,
        confidence=0.97,
        evidence=[
            f"the prediction has shape {list(one)}, the target {list(other)}",
            f"{call.op} at line {call.where.line} makes {list(result)} of them: "
            f"{math.prod(result)} comparisons instead of {math.prod(one)}",
        ],
        fix=(
            f"prediction.squeeze(-1) at line {call.where.line}, so that both are [{rows}]"
            if len(one) > len(other)
            else f"target.squeeze(-1) at line {call.where.line}, so that both are [{rows}]"
        ),
    )


def _same_shapes(case: Case) -> str | None:
    for trace in first_traces(case):
        reading = case.reading(trace.snapshot)
        if reading is not None and reading.target is not None:
            one, other = shape_of(reading.prediction), shape_of(reading.target)
            return f"prediction {list(one)} and target {list(other)} meet in the loss"
    return None
