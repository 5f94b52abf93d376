"""``view`` where ``permute`` is meant: the shape comes out right and the numbers do not.

A view reads the same numbers in the same order.  From [N, H, W, C] to [N, C, H, W], or from
[N, T, D] to [N, heads, T, D / heads], the order has to change: axes must be moved, not renamed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from whygrad.doctor.evidence.data.layout import misread
from whygrad.doctor.source.preparing.reshaping import reshaped_to
from whygrad.doctor.source.preparing.shapes import renamed_axes
from whygrad.ops.families import RESHAPES
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.reading import Reading
from whygrad.source import Where

__all__ = ["Scramble", "misread_inputs", "remedy_for", "scrambles"]

Shape = tuple[int, ...]


class Scramble(NamedTuple):
    """A call that renames axes."""

    call: Traced
    before: Shape
    after: Shape
    remedy: str


def scrambles(trace: Trace) -> Iterator[Scramble]:
    """The calls of a step whose result has the axes of what went in, in another order."""
    for call in trace.calls:
        if call.op not in RESHAPES or not call.inputs or not call.outputs:
            continue
        first = call
        while (made := trace.made_by(first.sources[0])) is not None and made.op in RESHAPES:
            first = made
        if first.sources[0] is None and first.inputs[0].requires_grad:
            continue  # how a parameter is laid out is its own affair
        before, after = tuple(first.inputs[0].shape), tuple(call.outputs[0].shape)
        remedy = remedy_for(before, after)
        if remedy is not None:
            yield Scramble(call, before, after, remedy)


def misread_inputs(reading: Reading) -> Iterator[tuple[Where, str, *tuple[str, ...]]]:
    """Inputs that lie otherwise than their axes say: the line that reshaped them, a fix, why."""
    for mark in reading.models[:1]:
        for each in reading.inputs:
            given = reading.trace.array(each)
            found = misread(given)
            if found is not None:
                for where in reshaped_to(mark.where.file, given.shape[1:]):
                    yield (
                        where,
                        "Move the axes: np.moveaxis(x, -1, 1), or x.permute(…) with all of them.",
                        f"neighbours in the inputs differ by {found.rough:.2f} of what any two "
                        f"numbers do; read as samples of shape {list(found.before)} by "
                        f"{found.smooth:.2f}: the axes got new names and the numbers did not move",
                    )
                    return
            for one in renamed_axes(mark.where.file):
                if _is_given(one.after, given.shape):
                    yield (
                        one.where,
                        "Move the axes: np.moveaxis(…), or x.transpose(…) with all of them.",
                        f"an array of shape [{_told(one.before)}] is reshaped to "
                        f"[{_told(one.after)}]: the same sizes in another order, so the axes get "
                        "new names and the numbers do not move",
                        f"the model is given samples of shape {list(given.shape[1:])}, which mix "
                        "what belongs to different ones",
                    )
                    return


def _is_given(told: tuple[int | str, ...], shape: Shape) -> bool:
    """Whether samples may be those of a shape that is told in numbers and words."""
    pairs = list(zip(told[1:], shape[1:]))
    known = [one == size for one, size in pairs if isinstance(one, int)]
    return len(told) == len(shape) and bool(known) and all(known)


def _told(shape: tuple[int | str, ...]) -> str:
    return ", ".join(map(str, shape))


def remedy_for(before: Shape, after: Shape) -> str | None:
    """What moves the axes, where a view from one shape to the other only renames them."""
    return _moved(before, after) or _split(before, after) or _merged(before, after)


def _rest(before: Shape, after: Shape) -> tuple[int, Shape, Shape]:
    """How many axes they begin with alike, and the others of both."""
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    return same, before[same:], after[same:]


def _moved(before: Shape, after: Shape) -> str | None:
    """[N, H, W, C] to [N, C, H, W]."""
    same, old, new = _rest(before, after)
    if len(old) != len(new) or len(old) < 2 or sorted(old) != sorted(new) or 1 in old:
        return None
    left = list(range(len(old)))
    order = [
        left.pop(next(at for at, axis in enumerate(left) if old[axis] == size)) for size in new
    ]
    places = ", ".join(map(str, (*range(same), *(same + each for each in order))))
    return f"permute({places})"


def _split(before: Shape, after: Shape) -> str | None:
    """[N, T, heads * size] to [N, heads, T, size]."""
    same, old, new = _rest(before, after)
    if len(old) != 2 or len(new) != 3 or new[1] != old[0] or new[0] * new[2] != old[1]:
        return None
    if 1 in (new[0], new[1]) or new[0] == new[1]:
        return None
    names = ", ".join(map(str, (*after[:same], old[0], new[0], new[2])))
    return f"view({names}).transpose({same}, {same + 1})"


def _merged(before: Shape, after: Shape) -> str | None:
    """[N, heads, T, size] to [N, T, heads * size]."""
    same, old, new = _rest(before, after)
    if len(old) != 3 or len(new) != 2 or new[0] != old[1] or new[1] != math.prod(old[::2]):
        return None
    if 1 in (old[0], old[1]) or old[0] == old[1]:
        return None
    return f"transpose({same}, {same + 1}).reshape({', '.join(map(str, after))})"
