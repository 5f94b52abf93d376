"""A mask of the filling that is the wrong way round: it hides what there is to read.

Shorter sequences are filled up, and a mask says which places are filling.  Half of the functions
want True where something is to be hidden, the other half where it is to be kept.  The filling is
known from the tokens themselves, and what a call keeps from its arguments.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.flow import first_readings
from whygrad.doctor.evidence.sequences.filling import filling_of
from whygrad.doctor.experiments.influence import given_to_models
from whygrad.doctor.rules.rule import Finding, Proof, once, rule
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.ranges import Array
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.reading import Reading
from whygrad.source import Where

__all__: list[str] = []

_NAMES = ("key_padding_mask", "attn_mask")


@rule(
    thresholds={
        "hidden": (-1e4, "a score that no softmax gives any weight"),
        "samples": (4, "fewer may agree by chance"),
    },
)
def inverted_mask(case: Case) -> Iterator[Finding]:
    """A mask keeps the filling and hides the sequence.

    key_padding_mask and masked_fill() want True where a place is to be hidden; attn_mask of
    scaled_dot_product_attention(), and a factor, want True where it is to be kept. The wrong way
    round the model sees filling only, and sequences without any give NaN.

    Measured: The tokens of a step end with runs of one value, of different lengths: the filling.
    What a mask leaves, in attention or as a factor, is exactly that.
    Fix: Turn the mask around: key_padding_mask=(tokens == PAD), or tokens != PAD as a factor.
    Guardrail: assert not key_padding_mask[:, 0].any()
    """
    yield from once(each for reading in first_readings(case) for each in _inverted(case, reading))


def _inverted(case: Case, reading: Reading) -> Iterator[Finding]:
    trace = reading.trace
    known = [filling_of(each) for each in _sequences(reading)]
    fillings = [each for each in known if each is not None and len(each) >= case.limit("samples")]
    for call in trace.calls if fillings else ():
        for mask, kept in _masks(case, trace, call):
            for filling in fillings:
                left = _laid_out(kept, filling.shape)
                if left is None or not bool((left == filling).all()):
                    continue
                if call.op not in ops.MUL or not _is_blended(case, trace, filling):
                    where = _where(trace, call, mask)
                    yield inverted_mask.finding(
                        f"of {filling.size} places {int(filling.sum())} are filling, at the end of "
                        "shorter sequences",
                        f"the mask of {call.op} at {call.spot} leaves these {int(left.sum())}, and "
                        "hides all others",
                        where=where,
                        step=trace.snapshot.step,
                        proof=Proof.REPLAYED,
                        places=[] if where == call.where else [("used here", call.where)],
                    )
                    return


def _is_blended(case: Case, trace: Trace, filling: Array) -> bool:
    """Whether another factor keeps the sequence: the filling gets something else on purpose."""
    return any(
        (left := _laid_out(kept, filling.shape)) is not None and bool((left != filling).all())
        for call in trace.calls
        if call.op in ops.MUL
        for _, kept in _masks(case, trace, call)
    )


def _sequences(reading: Reading) -> Iterator[Array]:
    """What models are given, and targets as they are laid out."""
    given = [each.values for each in given_to_models(reading)]
    yield from given
    layouts = {each.shape[:2] for each in given if each.ndim > 1}
    for term in reading.terms:
        target = None if term.target is None else reading.trace.array(term.target)
        for layout in layouts if target is not None and target.ndim == 1 else ():
            if target is not None and target.size == layout[0] * layout[1]:
                yield target.reshape(layout)


def _masks(case: Case, trace: Trace, call: Traced) -> Iterator[tuple[Any, Array]]:
    """The masks of a call, each with what it leaves."""
    if call.op in ops.ATTENTION:
        plain = call.op not in ops.MULTI_HEAD
        for name in _NAMES:
            given = call.kwargs.get(name)
            if isinstance(given, trace.engine.tensor):
                array = trace.array(given)
                if array.dtype.kind == "b":
                    yield call.call.kwargs[name], array if plain else ~array
                else:
                    yield call.call.kwargs[name], array > case.limit("hidden")
    elif call.op in ops.PROBABILITIES and call.inputs[0].ndim > 2:
        scores = trace.array(call.inputs[0])
        yield call.kept[0], _asked(scores > case.limit("hidden"))
    elif call.op in ops.MUL and len(call.inputs) == 2:
        learned = [each.requires_grad for each in call.inputs]
        if sum(learned) != 1:
            return
        factor = trace.array(call.inputs[learned.index(False)])
        if bool(np.isin(factor, (0, 1)).all()):
            yield call.kept[learned.index(False)], factor != 0


def _laid_out(kept: Array, shape: tuple[int, ...]) -> Array | None:
    """What is kept, for each place of each sequence."""
    if kept.size == shape[0] * shape[1]:
        return kept.reshape(shape)
    if kept.ndim > 2 and kept.shape[0] == shape[0] and kept.shape[-1] == shape[1]:
        return _asked(kept)
    return None


def _asked(kept: Array) -> Array:
    """Of what each place may look at, what any of them may."""
    return np.asarray(kept.any(axis=tuple(range(1, kept.ndim - 1))))


def _where(trace: Trace, call: Traced, mask: Any) -> Where:
    """The line that applies the mask, or that makes it for this call in the same function."""
    used = call
    while used.op in ops.PROBABILITIES | ops.SCALINGS | ops.ADD and used.sources:
        made = trace.made_by(used.sources[0])
        if made is None or used.op in ops.MUL:
            break
        used = made
    applied = used.where if used.op in ops.CHOICES else call.where
    drawn = _drawn_at(trace, mask)
    return drawn if drawn is not None and drawn.function == applied.function else applied


def _drawn_at(trace: Trace, mask: Any) -> Where | None:
    """The line that compares the tokens, in the step or before it."""
    if type(mask) is not Produced:
        origin = None if trace.snapshot.log is None else trace.snapshot.log.origin(mask)
        return None if origin is None else origin.where
    waiting, seen = [mask], set()
    while waiting:
        made = trace.made_by(waiting.pop())
        if made is None or made.number in seen:
            continue
        seen.add(made.number)
        if made.op in ops.COMPARISONS | ops.EQUALITIES:
            return made.where
        waiting += [it for it, given in zip(made.sources, made.inputs)
                    if it is not None and not given.requires_grad]  # fmt: skip
    return None
