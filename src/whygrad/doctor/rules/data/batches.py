"""One batch that is not like the others.

The size of what a model is given is known at every pass, so a batch with a hundred times the usual
numbers stands out by itself.  It is a fault if it did harm: the loss was worse afterwards, or gone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.provenance import data_input, given_inputs, making, target_source
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.loops import is_repeated_with
from whygrad.ops.families import CAT
from whygrad.recording.record import Pass
from whygrad.source import Where

__all__ = ["outlier_batch"]


@dataclass(eq=False)
class _Outlier:
    """Passes whose data are many times as large as those of the others."""

    what: str  # "input" or "target"
    passes: list[Pass]
    size: float
    usual: float

    @property
    def first(self) -> Pass:
        return self.passes[0]

    @property
    def ratio(self) -> float:
        return self.size / self.usual


@rule(
    thresholds={
        "ratio": (5.0, "times the usual size: batches of ordinary data stay far below"),
        "others": (2.5, "times at most for all other batches: else sizes vary anyway"),
        "share": (0.1, "of the passes at most: more are no exception"),
        "passes": (8, "to know what is usual"),
        "harm": (1.5, "times the loss before, after that batch"),
        "own": (2.0, "times the usual gradient, or such a loss: the batch itself shows it"),
        "spike": (10.0, "times the usual loss and gradient in that pass"),
        "soon": (3, "passes within which the loss is gone"),
        "before": (10, "passes whose loss is compared with …"),
        "after": (5, "… that of as many behind the batch"),
    },
    cleared=lambda case: _largest(case),
)
def outlier_batch(case: Case) -> Iterator[Finding]:
    """One batch is far larger than the others.

    A batch with values many times the usual size makes gradients to match. One such update can
    undo the training before it, or end it: a corrupt file, a missing unit conversion or a
    sentinel like 9999 is enough.

    Measured: The root mean square of what the model is given, pass by pass, against the median
    of all passes, together with the loss before and after.
    Fix: Find the samples of that batch and correct or drop them; clip values where they enter.
    Guardrail: assert x.abs().max() < 20, f'batch {i}: {x.abs().max()=}'
    """
    for outlier in _outliers(case):
        harm = _harm(case, outlier)
        if harm is None:
            continue
        said, proof = harm
        number = outlier.first.number
        where, called = _lines(case, outlier)
        again = len(outlier.passes) - 1
        yield outlier_batch.finding(
            f"the {outlier.what} of pass {number} has a typical size of {outlier.size:.4g}; "
            f"in the median pass it is {outlier.usual:.4g}: {outlier.ratio:.3g} times that"
            + (f", and so in {again} more" if again else ""),
            said,
            where=where,
            step=number,
            proof=proof,
            fix=(
                f"Look at the batch of step {number}: its {outlier.what}s are {outlier.ratio:.3g} "
                "times the usual size. Correct or drop these samples, or clamp values where the "
                "data are loaded; torch.nn.utils.clip_grad_norm_ limits what one batch can do."
            ),
            places=[("given to the model here", called)],
        )


def _outliers(case: Case) -> Iterator[_Outlier]:
    for what in ("input", "target"):
        groups: dict[Any, list[Pass]] = {}
        for each in case.run.passes:
            groups.setdefault((each.optimizer, len(_sizes(each, what))), []).append(each)
        for (_, width), passes in groups.items():
            if width and len(passes) >= case.limit("passes"):
                found = _outlier(case, what, passes)
                if found is not None:
                    yield found
                    return


def _outlier(case: Case, what: str, passes: list[Pass]) -> _Outlier | None:
    sizes = np.array([_sizes(each, what) for each in passes])
    if not np.isfinite(sizes).all():
        return None
    usual = np.median(sizes, axis=0)
    if not (usual > 0).all():
        return None
    ratios = sizes / usual
    worst = ratios.max(axis=1)
    out = worst >= case.limit("ratio")
    rare = 0 < out.sum() <= max(1, case.limit("share") * len(passes))
    if not rare or worst[~out].max() > case.limit("others"):
        return None
    first = int(np.flatnonzero(out)[0])
    column = int(ratios[first].argmax())
    chosen = [each for each, is_out in zip(passes, out) if is_out]
    return _Outlier(what, chosen, float(sizes[first, column]), float(usual[column]))


def _sizes(each: Pass, what: str) -> tuple[float, ...]:
    return each.input_rms if what == "input" else each.target_rms


def _harm(case: Case, outlier: _Outlier) -> tuple[str, Proof] | None:
    """What the batches did to the training, in words, and how that is known."""
    number = outlier.first.number
    bad = case.went_bad
    if bad is not None and bad < number:
        return (
            f"the loss was no number any more from pass {bad} on, so the harm cannot be seen here; "
            "it will be once that is repaired",
            Proof.USUAL,
        )
    same = [each for each in case.run.passes if each.optimizer == outlier.first.optimizer]
    for each in outlier.passes:
        if bad is not None and each.number <= bad <= each.number + case.limit("soon"):
            return f"the loss is no number from pass {bad} on", Proof.RECORDED
        found = _harm_of(case, each, same, outlier)
        if found is not None:
            return found
    return None


def _harm_of(
    case: Case, one: Pass, same: list[Pass], outlier: _Outlier
) -> tuple[str, Proof] | None:
    """What one batch did: the loss around it, and its own."""
    number = one.number
    usual = [each for each in same if each not in outlier.passes]
    before = [each.value for each in usual if number - case.limit("before") <= each.number < number]
    after = [each.value for each in usual if number < each.number <= number + case.limit("after")]
    if not before or not after:
        return None
    then, now = float(np.median(before)), float(np.median(after))
    worse = then > 0 and now >= case.limit("harm") * then and now > max(before)
    own = one.value >= case.limit("harm") * then or _gradient_spike(case, one) >= case.limit("own")
    if worse and own:
        return f"the loss was {then:.4g} before that batch and {now:.4g} after it", Proof.RECORDED
    typical = float(np.median([each.value for each in usual]))
    spike = one.value / typical if typical > 0 else math.nan
    if spike >= case.limit("spike") and _gradient_spike(case, one) >= case.limit("spike"):
        return f"in pass {number} the loss is {spike:.3g} times the usual one", Proof.INFERRED
    return None


def _gradient_spike(case: Case, at: Pass) -> float:
    """How many times the usual gradient the update of a pass had; 0 if it was limited."""
    for course in case.courses:
        sizes = [_norm(step.gradients) for step in course.steps]
        for place, step in enumerate(course.steps):
            if at in step.passes:
                if step.clips or not np.median(sizes) > 0:
                    return 0.0
                return float(sizes[place] / np.median(sizes))
    return 0.0


def _norm(gradients: Mapping[str, float | None]) -> float:
    return math.sqrt(sum(each**2 for each in gradients.values() if each is not None))


def _lines(case: Case, outlier: _Outlier) -> tuple[Where | None, Where | None]:
    """The line that made the batch, and the one that uses it."""
    courses = [each for each in case.courses if each.optimizer.number == outlier.first.optimizer]
    snapshots = [outlier.first.snapshot]
    snapshots += [each for course in courses for each in (course.last, course.first)]
    called: Where | None = None
    for snapshot in snapshots:
        reading = case.reading(snapshot)
        if snapshot is None or reading is None:
            continue
        if outlier.what == "input":
            called = called or (reading.models[0].where if reading.models else None)
            called = called or next(
                (each.where for each in reading.trace.calls if data_input(each) is not None), None
            )
            source = next((source for source, _ in given_inputs(reading)), None)
        else:
            call = reading.loss_call
            called = called or (None if call is None else call.where)
            source = target_source(reading)
        made = making(reading.trace, source)
        if made is None:
            continue
        # A batch that is computed anew at each step, or data that were written to.
        anew = snapshot.step > 0 or is_repeated_with(made.where, outlier.first.where)
        if anew or made.call.writes or made.op in CAT:
            return made.where, called
    return called or outlier.first.where, None


def _largest(case: Case) -> str | None:
    sizes = [max(each.input_rms) for each in case.run.passes if each.input_rms]
    if len(sizes) < case.limit("passes") or not np.median(sizes) > 0:
        return None
    ratio = max(sizes) / np.median(sizes)
    if not ratio <= case.limit("others"):
        return None
    return f"no batch has values of more than {ratio:.3g} times the usual size"
