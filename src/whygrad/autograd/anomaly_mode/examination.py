"""One result that is not finite: which elements, out of what, and who is to blame.

Nothing here knows an engine.  Anomaly mode asks while a program runs, ``why_nan`` afterwards, of
tensors, of Values and of what was recorded of PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from whygrad.autograd.anomaly_mode.findings import SHOWN, Element, Finding, Trail, merged
from whygrad.autograd.anomaly_mode.finite import Trouble, trouble

__all__ = ["Place", "bad_elements", "examined", "fits", "found", "made", "worst"]

Place = tuple[int, ...]


def bad_elements(array: Any, kind: Trouble) -> Any:
    """Where an array has NaN, or Inf."""
    return np.isnan(array) if kind == "nan" else np.isinf(array)


def worst(kinds: Iterable[Trouble | None]) -> Trouble | None:
    """NaN before Inf before nothing."""
    every = set(kinds)
    return "nan" if "nan" in every else "inf" if "inf" in every else None


def fits(array: Any, shape: tuple[int, ...]) -> bool:
    """Whether it can be read at the indices of ``shape``."""
    return len(array.shape) <= len(shape) and all(
        size in (1, whole)
        for size, whole in zip(reversed(array.shape), reversed(shape), strict=False)
    )


def _first_places(bad: Any) -> list[Place]:
    """The indices of the first few True elements."""
    if not bad.shape:
        return [()]
    axes = np.unravel_index(np.flatnonzero(bad)[:SHOWN], bad.shape)
    return [tuple(map(int, place)) for place in zip(*axes, strict=True)]


def _number(array: Any, shape: tuple[int, ...], place: Place) -> float:
    """The number of a (broadcast) array at one element, as it is shown: the real part."""
    return float(np.real(np.broadcast_to(array, shape)[place]))


def found(
    array: Any,
    kind: Trouble,
    bad: Any = None,
    *,
    op: Any = None,
    inputs: Mapping[str, Any] | None = None,
    incoming: Any = None,
    slopes: Callable[[list[Place]], Any] | None = None,
    **details: Any,
) -> Finding:
    """The elements of an array that are not finite, with the numbers they were made of.

    ``inputs`` and ``incoming`` can be read at the array's indices; ``slopes`` answers with the
    local derivatives at the places it is asked for.
    """
    bad = bad_elements(array, kind) if bad is None else bad
    places, shape = _first_places(bad), array.shape
    derivatives = None if slopes is None else slopes(places)
    elements = tuple(
        Element(
            place,
            _number(array, shape, place),
            {name: _number(each, shape, place) for name, each in (inputs or {}).items()},
            None if incoming is None else _number(incoming, shape, place),
            None if derivatives is None else float(np.real(derivatives[position])),
        )
        for position, place in enumerate(places)
    )
    return Finding(
        op=op,
        kind=kind,
        dtype=array.dtype,
        shape=shape,
        count=int(bad.sum()),
        elements=elements,
        **details,
    )


def made(trails: Iterable[Trail]) -> bool:
    """Whether an op of the program made some of these numbers."""
    return any(culprit.made for trail in trails for culprit in trail.culprits)


def examined(
    op: Any,
    array: Any,
    kind: Trouble,
    operands: Mapping[str, Any],
    sources: Sequence[Trail],
    **details: Any,
) -> tuple[Trail, Finding | None]:
    """Who is to blame for a result that is not finite; with the finding, if it is this call.

    ``operands`` are the arrays that went in, ``sources`` the trails of those that were not finite.
    """
    bad = bad_elements(array, kind)
    inputs = {name: each for name, each in operands.items() if fits(each, array.shape)}
    fed = worst(each.kind for each in sources)
    if fed is not None and op.kind == "elementwise" and len(inputs) == len(operands):
        opposite = [np.broadcast_to(each, array.shape) for each in inputs.values()]
        fresh = bad & np.logical_and.reduce([np.isfinite(each) for each in opposite])
        if fresh.any():  # here and there NaN may have come in as well
            fed, bad = None, fresh
        else:
            fed = worst(trouble(each[bad]) for each in opposite)
    finding = found(array, kind, bad, op=op, inputs=inputs, fed=fed, **details)
    if fed is None or (kind == "nan" and fed == "inf" and not made(sources)):
        return Trail(kind, (finding,)), finding
    turned = finding if kind == "nan" and fed == "inf" else None
    return merged(sources, kind, turned), None
