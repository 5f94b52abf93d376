"""Targets of a language model that stand at the wrong place.

A model that reads from left to right is to say, at each place, what comes next.  Which token a
prediction stands at is not guessed from shapes: the numbers of the places are sent along the way
from the last layer to the loss.  That it reads from left to right is tried: another last token
changes what is said there, and nothing before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.flow import Way, carry, feature_axis, follow
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.ops import families as ops
from whygrad.recording.ranges import Array
from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.recipes import tensor_like
from whygrad.source import Where

__all__: list[str] = []

_OFFSETS = (-1, 0, 1, 2)


@dataclass(eq=False)
class _Read:
    """A loss over the tokens of sequences."""

    call: Traced
    lookup: Traced  # the embedding of the tokens
    layer: Traced  # that makes the scores
    tokens: Array  # rows are sequences
    agree: dict[int, float]  # how often the target is the token so many places further on
    along: int  # the axis of time in the tensor of the program


@rule(
    thresholds={
        "same": (0.99, "of the targets that are the token at that place: no accident"),
        "other": (0.9, "of them that may be the next token too: more, and all tokens are the same"),
        "places": (4, "of a sequence: fewer are no text"),
        "changed": (1e-4, "of the size of the scores: another token is seen there"),
        "rounding": (1e-5, "of the size of the scores: they are as they were"),
        "known": (1.5, "times what is right by guessing, for the next token by the one before"),
    }
)
def unshifted_targets(case: Case, course: Course) -> Iterator[Finding]:
    """The targets of a language model are not the next tokens.

    A model that reads from left to right is asked for a token that it has just been shown: the
    loss goes to 0 by copying, and nothing is learned about what comes next. Or the targets are
    shifted twice, in the data and before the loss, and it is asked for the token after the next.

    Measured: The targets at the cross-entropy against the tokens that the model was given, place by
    place, at the first and the latest recorded step; the step, run again with another last token,
    says whether the model sees only what comes before.
    Fix: Predict the next token: logits[:, :-1] against tokens[:, 1:].
    Guardrail: assert (targets[:, :-1] == inputs[:, 1:]).all()
    """
    first, last = (_reads(case, each) for each in (course.first, course.last))
    if not first or not last or any(_is_at(case, each, 1) for each in first):
        return  # another head has the next token
    for read in first:
        offset = next((each for each in (0, -1, 2) if _is_at(case, read, each)), None)
        again = [each for each in last if each.call.where == read.call.where]
        if offset is None or not again or not _is_at(case, again[0], offset):
            continue
        trace = case.trace(course.first)
        assert trace is not None
        if not _is_causal(case, trace, read) or (offset and not _is_text(case, [read, *again])):
            continue
        yield unshifted_targets.finding(
            f"{read.agree[offset]:.0%} of the targets of {read.call.op} at {read.call.spot} are "
            + _TOLD[offset],
            "another last token changes the scores of the last place and none before: the model "
            "reads from left to right",
            where=_where(trace, read, offset),
            proof=Proof.REPLAYED,
            fix=_FIXES[offset],
            places=[("the loss", read.call.where)],
        )
        return


_TOLD = {
    0: "the token that the model is given at the same place: it has only to copy",
    -1: "the token before the one at the same place, which the model has already read",
    2: "the token after the next one: the next is never asked for",
}
_FIXES = {
    0: "Shift one of the two: logits[:, :-1] against tokens[:, 1:].",
    -1: "Shift the other way: inputs are tokens[:, :-1], targets tokens[:, 1:].",
    2: "Shift once: either in the data, or logits[:, :-1] and targets[:, 1:] at the loss.",
}


def _is_at(case: Case, read: _Read, offset: int) -> bool:
    found = read.agree[offset] >= case.limit("same")
    return found and (offset == 1 or read.agree[1] < case.limit("other"))


def _reads(case: Case, snapshot: Snapshot | None) -> list[_Read]:
    trace = case.trace(snapshot)
    if trace is None or not trace.reproduced:
        return []
    lookups = [each for each in trace.calls if _is_lookup(case, each)]
    found = []
    for call in trace.calls:
        if call.op not in ops.CLASS_LOSSES or len(call.inputs) < 2:
            continue
        for lookup in lookups:
            read = _read(trace, call, lookup)
            if read is not None:
                found.append(read)
                break
    return found


def _is_lookup(case: Case, call: Traced) -> bool:
    """An embedding of sequences, not of places or of single things."""
    if call.op not in ops.EMBEDDING or len(call.inputs) < 2:
        return False
    tokens = call.inputs[_place(call)]
    return tokens.ndim == 2 and min(tokens.shape) >= 1 and max(tokens.shape) >= case.limit("places")


def _place(call: Traced) -> int:
    """Which input of an embedding is the tokens: the engines have them in another order."""
    return int(call.inputs[0].is_floating_point())


def _read(trace: Trace, call: Traced, lookup: Traced) -> _Read | None:
    place = _place(lookup)
    tokens, target = trace.array(lookup.inputs[place]), trace.array(call.inputs[1])
    way = follow(trace, call.sources[0])
    if way.op in ops.LOG_SOFTMAX and way.maker is not None:
        inner = follow(trace, way.maker.sources[0])
        inner.passed += way.passed
        way = inner
    layer = way.maker
    if layer is None or feature_axis(trace, way) is None or target.dtype.kind not in "iu":
        return None
    shape = tuple(layer.outputs[0].shape)
    if shape[:-1] != tokens.shape or shape[-1] != lookup.inputs[1 - place].shape[0]:
        return None
    if not trace.descends(layer, lookup):
        return None
    numbers = np.arange(tokens.size, dtype=np.float32).reshape(*tokens.shape, 1)
    carried = carry(trace, way, np.broadcast_to(numbers, shape))
    if carried is None or carried.ndim < 2:
        return None
    places = np.take(carried, 0, axis=1).astype(np.int64).ravel()
    kept = target.ravel() != call.kwargs.get("ignore_index", -100)
    if len(places) != target.size or not kept.any():
        return None
    found = [_agreement(tokens, target.ravel()[kept], places[kept], axis) for axis in (1, 0)]
    along = 1 if max(found[0].values()) >= max(found[1].values()) else 0
    rows = tokens if along == 1 else tokens.T
    return _Read(call, lookup, layer, rows, found[0 if along == 1 else 1], along)


def _agreement(tokens: Array, target: Array, places: Array, axis: int) -> dict[int, float]:
    """How often targets are the tokens so many places further on."""
    at = list(np.unravel_index(places, tokens.shape))
    found = {}
    for offset in _OFFSETS:
        moved = at[axis] + offset
        inside = (moved >= 0) & (moved < tokens.shape[axis])
        index = tuple((moved if n == axis else each)[inside] for n, each in enumerate(at))
        found[offset] = float((tokens[index] == target[inside]).mean()) if inside.any() else 0.0
    return found


def _is_causal(case: Case, trace: Trace, read: _Read) -> bool:
    """Whether another last token changes what is said there, and nothing before."""
    place = _place(read.lookup)
    tokens = np.array(trace.array(read.lookup.inputs[place]))
    last = (slice(None), -1) if read.along == 1 else (-1, slice(None))
    rows = int(read.lookup.inputs[1 - place].shape[0])
    tokens[last] = (tokens[last] + 1) % rows
    changed = tensor_like(trace.engine, tokens)
    at = next(n for n, each in enumerate(read.lookup.args) if each is read.lookup.inputs[place])
    again = trace.again(instead={read.lookup.number: {at: changed}}, backward=False)
    made = again.call(read.layer.number)
    if again.error is not None or made is None:
        return False
    before, after = (
        np.moveaxis(each.array(call.outputs[0]), read.along, 0)
        for each, call in ((trace, read.layer), (again, made))
    )
    size = max(1.0, float(np.abs(before).max()))
    moved = np.abs(before - after).max(axis=(1, 2))
    rest = bool((moved[:-1] <= case.limit("rounding") * size).all())
    return rest and bool(moved[-1] > case.limit("changed") * size)


def _is_text(case: Case, reads: list[_Read]) -> bool:
    """Whether a token says something about the next: not so in noise that is to be remembered."""
    rows = np.concatenate([each.tokens for each in reads if each.tokens.shape[1:]
                           == reads[0].tokens.shape[1:]])  # fmt: skip
    half = len(rows) // 2
    if not half:
        return False
    size = int(rows.max()) + 1
    counts = np.zeros((size, size))
    np.add.at(counts, (rows[:half, :-1].ravel(), rows[:half, 1:].ravel()), 1)
    said = counts.argmax(axis=1)[rows[half:, :-1]]
    right = float((said == rows[half:, 1:]).mean())
    guess = float(np.bincount(rows[half:, 1:].ravel()).max() / rows[half:, 1:].size)
    return right > case.limit("known") * guess


def _where(trace: Trace, read: _Read, offset: int) -> Where:
    """Where the targets part from the tokens: made apart, cut out of the same, or at the loss."""
    place = _place(read.lookup)
    wanted, tokens = follow(trace, read.call.sources[1]), follow(trace, read.lookup.sources[place])
    roots = [
        each.maker.number if each.maker is not None else id(_leaf(each, kept))
        for each, kept in ((wanted, read.call.kept[1]), (tokens, read.lookup.kept[place]))
    ]
    if roots[0] != roots[1]:
        if wanted.maker is not None:
            return wanted.maker.where
        log = trace.snapshot.log
        origin = None if log is None else log.origin(_leaf(wanted, read.call.kept[1]))
        return read.call.where if origin is None else origin.where
    shared = {call.number for call, _, _ in tokens.passed}
    own = [call for call, _, _ in wanted.passed
           if call.number not in shared and call.op in ops.PICKS]  # fmt: skip
    if not own:
        return read.call.where
    return own[-1 if offset > 1 else 0].where


def _leaf(way: Way, kept: Any) -> Any:
    """The tensor of the program that a way begins with."""
    return way.passed[0][0].kept[way.passed[0][1]] if way.passed else kept
