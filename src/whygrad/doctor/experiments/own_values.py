"""The values that the library would have begun with, beside those that a program wrote.

A layer of the library draws its own first values.  A program that writes others may know better;
whether it did shows when the run is rehearsed from the library's.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.recording.ranges import Array
from whygrad.recording.record import Course, Parameter, Snapshot

__all__ = ["Written", "written_otherwise"]

_MOST = 4_000_000  # numbers of a module: copies of larger ones take long
_LARGE, _SMALL = 5.0, 0.25  # times the library's size: no initialisation in use is as far off
_TINY = 0.01  # the same for a table of embeddings, which may begin small
_EXTREME = 5.0  # of a bias: beyond the odds of 1 : 100 that a rare class is begun with
_LEVELS = 0.1, 10.0  # of the weight of a normalisation, which begins at 1


@dataclass(eq=False)
class Written:
    """A parameter that the program wrote to, with what the library would have given it."""

    parameter: Parameter
    now: Array
    own: Array

    @property
    def is_flat(self) -> bool:
        """Whether a weight is one number all over, that should be many."""
        return self.now.ndim > 1 and not np.ptp(self.now)

    @property
    def sizes(self) -> tuple[float, float]:
        return _size(self.now), _size(self.own)


def written_otherwise(case: Case, course: Course, snapshot: Snapshot) -> list[Written]:
    """The trained parameters whose first values are far from the library's, written by a line."""
    known = {id(each.tensor): each for each in course.parameters if each.written_at is not None}
    found = []
    for tensor, own, table in _redrawn(case, snapshot, set(known)):
        parameter = known[id(tensor)]
        now = snapshot.engine.array(snapshot.values[id(tensor)])
        each = Written(parameter, now, own)
        if now.shape == own.shape and not parameter.given and _is_far(each, table):
            found.append(each)
    return found


def _redrawn(case: Case, snapshot: Snapshot, wanted: set[int]) -> Iterator[tuple[Any, Array, bool]]:
    """Parameters with values as the library draws them, and whether these are embeddings."""
    engine = snapshot.engine
    space: Any = engine.namespace
    state = space.get_rng_state()
    try:
        with engine.unwatched():
            space.manual_seed(0)
            for _, root, _ in case.run.roots:
                for module in root.modules():
                    yield from _of_module(engine, module, wanted & set(snapshot.values))
    finally:
        space.set_rng_state(state)


def _of_module(engine: Any, module: Any, wanted: set[int]) -> Iterator[tuple[Any, Array, bool]]:
    library = type(module).__module__.partition(".")[0] in ("torch", "whygrad")
    held = [each for each in module.parameters() if id(each) in wanted]
    reset = next(
        (it for it in ("reset_parameters", "_reset_parameters") if hasattr(module, it)), None
    )
    direct = dict(module.named_parameters(recurse=False))
    if not library or not held or reset is None or not direct:
        return
    if sum(each.numel() for each in held) > _MOST:
        return
    fresh = copy.deepcopy(module)
    getattr(fresh, reset)()
    for name, tensor in fresh.named_parameters(recurse=False):
        if id(direct[name]) in wanted:
            table = type(module).__name__.startswith("Embedding")
            yield direct[name], engine.array(tensor.detach()).copy(), table


def _is_far(each: Written, table: bool) -> bool:
    now, own = each.sizes
    if each.now.ndim > 1:
        if each.is_flat:
            return bool(np.ptp(each.own)) and each.now.size > 1
        return now > _LARGE * own or now < (_TINY if table else _SMALL) * own
    if each.own.size and bool((each.own == 1).all()):  # the weight of a normalisation
        return not _LEVELS[0] <= now <= _LEVELS[1]
    # A bias: hidden units that it kills or saturates are told by other rules as well.
    return each.now.size > 0 and not np.ptp(each.now) and now >= _EXTREME


def _size(array: Array) -> float:
    return float(np.sqrt(np.mean(np.square(array.astype(np.float64))))) if array.size else 0.0
