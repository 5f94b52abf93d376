"""Errors in units that do not belong together, or are not those that are printed behind them."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.rule import Finding, Proof
from whygrad.doctor.source.judging.flow import Flow
from whygrad.doctor.source.judging.units import converts, printed_with_unit, scaled, scales
from whygrad.doctor.source.lines import name_assigned
from whygrad.recording.judging.looks import Judged, List
from whygrad.source import Where

__all__ = ["FORMS"]

_Tell = Callable[..., Finding]


def _other_units(case: Case, looks: list[Judged], flow: Flow | None, tell: _Tell) -> Finding | None:
    """Answers that follow the labels closely, on another scale."""
    look = looks[-1]
    pair, targets = look.pair, _targets(case)
    if look.kind not in ("errors", "difference") or pair is None or targets is None:
        return None
    if flow is None or look.sides[0].range.size < case.limit("answers"):
        return None
    if pair.correlation < case.limit("follows") or not _is_far(case, look, flow):
        return None
    from_model = [flow.of_model(each) for each in flow.sides]
    if sorted(from_model) != [False, True]:
        return None
    at = from_model.index(True)
    answers, labels = look.sides[at], look.sides[1 - at]
    as_trained, scaled_labels = (_is_of(case, each, targets) for each in (answers, labels))
    if as_trained and scaled_labels:
        return None
    if not as_trained and not any(map(converts, flow.ways(flow.sides[at]))):
        return None
    trained = f"{targets.mean():.3g} ± {targets.std():.3g}"
    rest = labels.range.std * math.sqrt(max(0.0, 1 - pair.correlation**2))
    return tell(
        f"{answers.text} is {answers.range.mean:.3g} ± {answers.range.std:.3g}, {labels.text} is "
        f"{labels.range.mean:.3g} ± {labels.range.std:.3g}; the targets of the training are "
        f"{trained}",
        f"their correlation is {pair.correlation:.2f}: the error is {pair.error:.3g}, and would be "
        f"about {rest:.3g} in the units of {labels.text}",
        where=_to_change(flow, flow.sides[1 - at]) if scaled_labels else flow.where,
        step=looks[0].after,
        proof=Proof.INFERRED,
        fix="Take both to the same units first, with the scaler of the targets: "
        "scaler.inverse_transform(pred) against the raw values.",
    )


def _to_change(flow: Flow, labels: ast.expr) -> Where:
    """The line that gives a name to labels which nobody scaled back; else the one that judges."""
    named = name_assigned(flow.where, labels.id) if isinstance(labels, ast.Name) else None
    return named or flow.where


def _is_far(case: Case, look: Judged, flow: Flow) -> bool:
    """Whether two sides have scales so different that their units must be.

    Those of a model that has learned little, or of data that have drifted, are less so.
    """
    assert look.pair is not None
    small, large = sorted(each.range.std for each in look.sides)
    if large > case.limit("units") * small:
        return True
    residual = large * math.sqrt(max(0.0, 1 - look.pair.correlation**2))
    far = large > case.limit("scale") * small
    return far and look.pair.error > case.limit("closer") * residual and scales(flow)


def _named_unit(case: Case, looks: list[Judged], flow: Flow | None, tell: _Tell) -> Finding | None:
    """An error of scaled values, with the unit of those that were not scaled behind it."""
    look = looks[-1]
    targets = _targets(case)
    if look.kind not in ("errors", "difference") or look.pair is None or targets is None:
        return None
    if flow is None or not _is_standard(case, targets):
        return None
    if not all(_is_of(case, each, targets) for each in look.sides):
        return None
    if not any(scaled(each) for side in flow.sides for each in flow.ways(side)):
        return None
    unit = printed_with_unit(look)
    if unit is None:
        return None
    return tell(
        f"{look.sides[0].text} and {look.sides[1].text} are {look.sides[0].range.mean:.2g} ± "
        f"{look.sides[0].range.std:.2g} and {look.sides[1].range.mean:.2g} ± "
        f"{look.sides[1].range.std:.2g}: scaled, like the targets of the training",
        f"what comes out is printed with the unit {unit.text!r}",
        where=flow.where,
        step=looks[0].after,
        proof=Proof.INFERRED,
        fix="Scale answers and labels back before the error is taken, or the error itself: times "
        "the deviation that the scaler divides by.",
        places=[("printed here", unit.where)],
    )


def _targets(case: Case) -> np.ndarray[Any, Any] | None:
    """The targets of a training step, of the longest course that has some."""
    for course in case.courses[:2]:
        for snapshot in (course.last, course.first):
            reading = case.reading(snapshot)
            if reading is not None and reading.target is not None:
                found = reading.trace.array(reading.target)
                if found.dtype.kind == "f" and found.size > 1:
                    return found
    return None


def _is_of(case: Case, side: List, targets: np.ndarray[Any, Any]) -> bool:
    """Whether a side is about where the targets of the training are."""
    spreads = sorted((side.range.std, float(targets.std())))
    apart = abs(side.range.mean - float(targets.mean()))
    return (
        spreads[1] < case.limit("scale") * spreads[0] and apart < case.limit("apart") * spreads[1]
    )


def _is_standard(case: Case, targets: np.ndarray[Any, Any]) -> bool:
    """Whether values are of mean 0 and deviation 1, or between 0 and 1."""
    mean, spread = float(targets.mean()), float(targets.std())
    standard = abs(mean) < case.limit("half") and case.limit("half") < spread < 1 / case.limit(
        "half"
    )
    return standard or (targets.min() >= 0 and targets.max() <= 1)


FORMS = (_other_units, _named_unit)
