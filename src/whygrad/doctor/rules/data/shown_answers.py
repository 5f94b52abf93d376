"""Sequence models that are shown what they are to predict.

The next element of a sequence is the answer for the one before it.  A model that looks ahead, by
attention without a mask or by a recurrent layer that runs both ways, reads its answer off; so does
one whose targets were not shifted.  Losses come out wonderful, and nothing was learned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.flow import first_readings, follow, line_of, shape_of
from whygrad.doctor.experiments.influence import Comparison, Given, compared, given_to_models
from whygrad.doctor.rules.rule import Finding, Proof, once, rule
from whygrad.doctor.source.preparing.windows import targets_inside
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.ranges import Array
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.reading import Reading, Term
from whygrad.source import Where

__all__: list[str] = []

_RECURRENT = ops.RECURRENT | ops.TANH_STATES
_LOOKING = ops.PROBABILITIES | ops.ATTENTION | ops.CONVOLUTIONS | _RECURRENT
_MASKING = ops.CHOICES | ops.ADD | ops.SUB | ops.MUL


@dataclass(eq=False)
class _Sequence:
    """An input with places along ``axis``, and the targets in the same layout."""

    given: Given
    at: int  # its place among the inputs
    axis: int
    target: Array
    term: Term

    @property
    def length(self) -> int:
        return int(self.given.values.shape[self.axis])


@rule(
    thresholds={
        "links": (4, "calls between scores and their softmax that scale or mask"),
        "looked at": (4096, "elements, to see how many kinds there are"),
        "rounding": (1e-5, "of a value that was handed on"),
        "places": (4, "of a sequence: fewer may agree by chance"),
        "agree": (0.98, "of the targets are the next element, or the same: padding may differ"),
        "kinds": (4, "different values: a sequence of fewer agrees with itself by chance"),
        "apart": (0.6, "of the elements that are like the next one: more say nothing"),
        "counted": (0.5, "of the samples in which the loss looks at a place, to go by it"),
        "moved": (0.3, "of the answers change with later elements: a few do by rounding"),
    },
)
def answer_in_input(case: Case) -> Iterator[Finding]:
    """The model is shown the answer that it is to give.

    Each place of a sequence is to predict the next one, and can see it: through attention without
    a causal mask, or with one that is the wrong way round, through a recurrent layer in both
    directions, or because the targets are the inputs themselves. The loss falls fast and far, by
    copying; on its own the model can say nothing, for then there is no next element to look at.

    Measured: The targets of the first step are its inputs, shifted by one or not shifted. With
    other elements from a place on, and all else as it was, the answers for the place before change.
    Or the text takes a target from inside its window, and the values are the same.
    Fix: Hide what comes later: a mask with torch.triu(torch.ones(t, t), diagonal=1).bool() set to
    -inf, or is_causal=True; and shift the targets: x, y = tokens[:, :-1], tokens[:, 1:].
    Guardrail: assert torch.allclose(model(x)[:, :3], model(x[:, :3]), atol=1e-4)
    """
    yield from once((*_shown(case), *_in_window(case)))


def _in_window(case: Case) -> Iterator[Finding]:
    """A target that is an element of its own window, by the text and by the values."""
    for reading in first_readings(case):
        for mark in reading.models[:1]:
            for each in targets_inside(mark.where.file):
                if all(
                    _is_element(case, one, each.behind) for one in _first_and_last(case, reading)
                ):
                    yield answer_in_input.finding(
                        f"the window is `{each.window}`, and its target `{each.target}` is the "
                        f"{_COUNTED.get(each.behind, f'{each.behind}th last')} element of it",
                        "the targets of the first and of the latest recorded step are numbers that "
                        "their inputs hold at that place",
                        where=each.where,
                        step=reading.trace.snapshot.step,
                        proof=Proof.REPLAYED,
                        fix="Take what comes after the window: for series[i:i + w] that is "
                        "series[i + w].",
                        title="The target is an element of its own window",
                    )
                    return


_COUNTED = {1: "last", 2: "last but one"}


def _first_and_last(case: Case, reading: Reading) -> list[Reading]:
    course = next(each for each in case.courses if each.first is reading.trace.snapshot)
    last = case.reading(course.last)
    return [reading] if last is None else [reading, last]


def _is_element(case: Case, reading: Reading, behind: int) -> bool:
    """Whether all targets are what the inputs hold so many places from the end of a sequence."""
    if reading.target is None or not reading.inputs:
        return False
    given, target = reading.trace.array(reading.inputs[0]), reading.trace.array(reading.target)
    if given.ndim not in (2, 3) or target.size != len(given) or target.dtype.kind != "f":
        return False
    if len(np.unique(target)) < case.limit("kinds"):
        return False
    wanted = target.ravel()
    places = [each for each in given.shape[1:] if each >= behind]
    return len(places) == given.ndim - 1 and any(
        _agree(case, np.moveaxis(given, axis, 1)[:, -behind].reshape(len(given), -1)[:, at], wanted)
        == 1
        for axis in range(1, given.ndim)
        for at in range(given[0].size // given.shape[axis])
    )


def _shown(case: Case) -> Iterator[Finding | None]:
    for reading in first_readings(case):
        given = list(given_to_models(reading))
        for term in reading.terms:
            for at, each in enumerate(given):
                for axis in (1, 0):
                    yield _looks_ahead(case, reading, given, _as_next(case, each, at, axis, term))
                yield _is_copied(case, reading, given, _as_same(case, each, at, term))


def _target(case: Case, given: Given, axis: int, term: Term) -> Array | None:
    """The targets of a term as the input is laid out, if there is one for each of its elements."""
    values = given.values
    if term.target is None or term.source is None or values.ndim < 2 or axis >= values.ndim:
        return None
    least = case.limit("places")
    if values.shape[axis] < least or values.size != int(np.prod(shape_of(term.target))):
        return None
    sample = values.ravel()[: int(case.limit("looked at"))]
    if len(np.unique(sample)) < case.limit("kinds"):
        return None
    return _array(term).reshape(values.shape)


def _array(term: Term) -> Array:
    target = term.target
    return np.asarray(target.detach().numpy() if hasattr(target, "detach") else target)


def _agree(case: Case, one: Array, other: Array) -> float:
    return (
        float(np.isclose(one, other, rtol=case.limit("rounding"), atol=0).mean())
        if one.size
        else 0.0
    )


def _as_next(case: Case, given: Given, at: int, axis: int, term: Term) -> _Sequence | None:
    """The targets are the elements that come next."""
    target = _target(case, given, axis, term)
    if target is None:
        return None
    inputs, targets = (np.moveaxis(each, axis, 0) for each in (given.values, target))
    counted = _counted(targets[:-1])
    if _agree(case, inputs[1:][counted], targets[:-1][counted]) < case.limit("agree"):
        return None
    if _agree(case, inputs, targets) > case.limit("apart"):
        return None
    return _Sequence(given, at, axis, target, term)


def _counted(targets: Array) -> Array:
    """Where the loss looks: what is asked first is often left out, by labels of -100."""
    return targets >= 0 if targets.dtype.kind == "i" else np.ones(targets.shape, bool)


def _as_same(case: Case, given: Given, at: int, term: Term) -> _Sequence | None:
    """The targets are the elements themselves, which are tokens."""
    target = _target(case, given, 1, term)
    if target is None or given.values.dtype.kind not in "iu" or given.values.ndim != 2:
        return None
    if _agree(case, given.values, target) < 1:
        return None
    if _agree(case, given.values[:, 1:], target[:, :-1]) > case.limit("apart"):
        return None
    return _Sequence(given, at, 1, target, term)


def _answers(found: _Sequence, made: Array) -> Array | None:
    """A prediction with the axes of the input first, and all it says about a place after them."""
    shape = found.given.values.shape[:2]
    if made.shape[:2] == shape or made.shape[:1] == (shape[0] * shape[1],):
        return made.reshape(*shape, -1)
    if made.ndim == 3 and (made.shape[0], made.shape[2]) == shape:
        return np.moveaxis(made, 1, 2)
    return None


def _with_others(
    reading: Reading, given: list[Given], found: _Sequence, begin: int
) -> Comparison | None:
    """The step with other elements from a place on."""
    values = np.moveaxis(found.given.values.copy(), found.axis, 0)
    later = values[begin:]
    rolled = np.roll(later, 1, axis=1) if later.shape[1] > 1 else later[::-1]
    same = rolled == later
    if bool(same.all()):
        return None
    values[begin:] = rolled
    changed = {found.at: np.moveaxis(values, 0, found.axis)}
    return compared(reading, given, changed, (found.length - begin) / found.length)


def _moved(found: _Sequence, comparison: Comparison | None, begin: int) -> tuple[float, float]:
    """The share of answers that changed: for the place before, and for this one itself."""
    pair = None if comparison is None else comparison.result(found.term.source)
    if comparison is None or pair is None:
        return 0.0, 0.0
    answers = _answers(found, comparison.moved(*pair))
    if answers is None:
        return 0.0, 0.0
    places: Array = np.moveaxis(np.asarray(answers.any(axis=-1)), found.axis, 0)
    return float(places[begin - 1].mean()), float(places[begin].mean())


def _looks_ahead(
    case: Case, reading: Reading, given: list[Given], found: _Sequence | None
) -> Finding | None:
    if found is None:
        return None
    counted = _counted(np.moveaxis(found.target, found.axis, 0)[:-1]).reshape(found.length - 1, -1)
    places = np.flatnonzero(counted.mean(axis=1) >= case.limit("counted"))
    if not len(places):
        return None
    half = int(places[len(places) // 2]) + 1
    earlier, _ = _moved(found, _with_others(reading, given, found, half), half)
    if earlier < case.limit("moved"):
        return None
    last = _with_others(reading, given, found, found.length - 1)
    call = None if last is None else _first_look(reading, last, found.term)
    if call is None:
        return None
    trace = reading.trace
    mask = _mask(case, trace, call)
    where = line_of(case, trace, call)
    made = _layer_made(case, trace, call) if mask is None else _made_at(trace, mask)
    if call.op in _RECURRENT:
        how, fix = "runs in both directions", "bidirectional=False: what comes later is the answer."
    elif call.op in ops.CONVOLUTIONS:
        how = "takes later places in"
        fix = "Pad on the left only: F.pad(x, (kernel - 1, 0)), and no padding in the layer."
    elif mask is None:
        how, fix = "has no mask that hides later places", answer_in_input.fix
    else:
        how = "has a mask that does not hide later places"
        fix = "Mask what lies above the diagonal: torch.triu(torch.ones(t, t), diagonal=1).bool()"
    return answer_in_input.finding(
        f"the targets are the inputs shifted by one: place {half - 1} is to predict place {half}",
        f"with other elements from place {half} on, {earlier:.0%} of the answers for place "
        f"{half - 1} change: the model looks ahead",
        f"{call.op} at {call.spot} {how}",
        where=made or where,
        step=trace.snapshot.step,
        proof=Proof.REPLAYED,
        fix=fix,
        places=[("used here", where)] if made is not None and made != where else [],
        title="The model sees the elements that it is to predict",
    )


def _first_look(reading: Reading, comparison: Comparison, term: Term) -> Traced | None:
    """The first call by which more than the last place differs, and that may look ahead."""
    begin = min((mark.before for mark in reading.models), default=0)
    for call in reading.trace.calls:
        inside = begin <= call.number < term.call.number
        again = comparison.plain.call(call.number)
        if inside and call.op in _LOOKING and again is not None and comparison.spreads(again):
            return call
    return None


def _mask(case: Case, trace: Trace, call: Traced) -> Any:
    """The mask of an attention, as its call keeps it; None if it has none."""
    if call.op in ops.ATTENTION:
        for name in ("attn_mask", "mask"):
            if call.call.kwargs.get(name) is not None:
                return call.call.kwargs[name]
        return None
    made = _masking_call(case, trace, call.sources[0])
    if made is None:
        return None
    kept = [each for given, each in zip(made.inputs, made.kept) if not given.requires_grad]
    return next((each for each in kept if _is_square(trace, each)), None)


def _masking_call(case: Case, trace: Trace, source: Produced | None) -> Traced | None:
    """The call before a softmax that put something in the place of scores, or added it to them."""
    made = trace.made_by(source)
    for _ in range(int(case.limit("links"))):
        if made is None or made.op in ops.MATRIX_PRODUCTS | ops.EINSUM:
            return None
        given = [each for each in made.inputs if not each.requires_grad]
        if made.op in _MASKING and any(each.ndim > 1 for each in given):
            return made
        made = trace.made_by(next((it for it in made.sources if it is not None), None))
    return None


def _is_square(trace: Trace, kept: Any) -> bool:
    shape = shape_of(trace.value(kept))
    return len(shape) > 1 and shape[-1] == shape[-2]


def _made_at(trace: Trace, mask: Any) -> Where | None:
    """The line that drew the mask."""
    if type(mask) is not Produced:
        origin = None if trace.snapshot.log is None else trace.snapshot.log.origin(mask)
        return None if origin is None else origin.where
    way = follow(trace, mask)
    maker = way.maker or (way.passed[0][0] if way.passed else None)
    return None if maker is None else maker.where


def _layer_made(case: Case, trace: Trace, call: Traced) -> Where | None:
    """Where a layer that looks both ways was made so; attention is told when it is called."""
    if call.op in _RECURRENT | ops.CONVOLUTIONS:
        for mark in trace.marks():
            if mark.path == call.module and mark.before <= call.number < mark.after:
                return case.run.made.get(id(mark.module))
    return None


def _is_copied(
    case: Case, reading: Reading, given: list[Given], found: _Sequence | None
) -> Finding | None:
    """Targets that are the inputs, of a model that does not look ahead: nobody wants a copy."""
    if found is None or not any(each.op in ops.EMBEDDING for each in reading.trace.calls):
        return None
    half = found.length // 2
    earlier, own = _moved(found, _with_others(reading, given, found, half), half)
    if earlier > 0 or own < case.limit("moved"):
        return None  # an autoencoder looks at all of a sequence; a decoder may shift it by itself
    call = found.term.call
    made = reading.trace.made_by(found.term.target_source)
    return answer_in_input.finding(
        f"the {found.target.size} targets of the first step are its inputs, at the same places",
        "answers depend on no later place, as in a model that predicts what comes next, and each "
        "depends on its own place, where the answer stands",
        where=call.where if made is None else made.where,
        step=reading.trace.snapshot.step,
        proof=Proof.REPLAYED,
        fix="Shift the targets by one: x, y = tokens[:, :-1], tokens[:, 1:].",
        title="The targets are the inputs themselves",
    )
