"""Where the rows of a batch come from.

Data are made, then cut, shuffled and stacked into batches.  The first step of a run has all of that
on its tape, so a batch can be followed back: to the tensor that it was taken from, to which rows of
it, and to the calls that changed their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.reading import Reading

__all__ = [
    "Rows",
    "Shuffle",
    "chosen_draws",
    "data_input",
    "given_inputs",
    "has_moving_targets",
    "making",
    "rows_of",
    "target_source",
]

_PICKING = ops.PICKS | ops.SPLITS | ops.STACK
_LAYERS = ops.LINEAR | ops.RECURRENT


@dataclass(frozen=True)
class Shuffle:
    """A call that took rows in another order."""

    call: Traced
    index: np.ndarray[Any, Any]


@dataclass(frozen=True)
class Rows:
    """Rows ``index`` of a tensor, the ``whole``; ``base`` tells that tensor from others."""

    base: object
    whole: Any
    index: np.ndarray[Any, Any]
    shuffles: tuple[Shuffle, ...] = ()  # the calls that changed the order, latest first

    @property
    def length(self) -> int:
        return int(self.whole.shape[0])

    def taken(self, index: np.ndarray[Any, Any], by: Traced) -> Rows:
        """The rows ``index`` of these rows."""
        in_order = bool((np.diff(index) > 0).all())
        shuffles = self.shuffles if in_order else (Shuffle(by, index), *self.shuffles)
        return replace(self, index=self.index[index], shuffles=shuffles)

    def same_as(self, other: Rows) -> bool:
        return self.base == other.base and np.array_equal(self.index, other.index)


def given_inputs(reading: Reading) -> Iterator[tuple[Produced | None, Any]]:
    """What the program gave its models: the call that made it, and the tensor.

    In a program without modules: what its own first layers work on.
    """
    trace = reading.trace
    for mark in reading.models:
        for encoded in mark.inputs if isinstance(mark.inputs, (tuple, list)) else (mark.inputs,):
            tensor = trace.value(encoded)
            if isinstance(tensor, trace.engine.tensor):
                source = encoded if type(encoded) is Produced else None
                yield source, _own_copy(trace, encoded) if source is None else tensor
    for call in trace.calls if not reading.models else ():
        given = data_input(call)
        if given is not None:
            yield next(s for each, s in zip(call.inputs, call.sources) if each is given), given


def data_input(call: Traced) -> Any:
    """Among the inputs of a layer, the data that nothing was learned about; None if all was."""
    if call.op in ops.LINEAR:
        inputs = call.inputs[:2]
    elif call.op in ops.RECURRENT:
        inputs = [call.inputs[0], *(each for each in call.inputs[1:] if each.requires_grad)]
    else:
        return None
    given = [each for each in inputs if not each.requires_grad]
    return given[0] if given and len(given) < len(inputs) else None


def _own_copy(trace: Trace, tensor: Any) -> Any:
    """The copy of a tensor of the program's that the replay has worked with."""
    for call in trace.calls:
        for place, each in enumerate(call.call.args):
            if each is tensor:
                return call.args[place]
    return tensor


def target_source(reading: Reading) -> Produced | None:
    """The call that made the target."""
    call = reading.meeting
    if call is None:
        return None
    for given, source in zip(call.inputs, call.sources):
        if given is reading.target:
            return source
    return None


def has_moving_targets(reading: Reading) -> bool:
    """Whether targets are what a model says: of another network, of itself a step before."""
    trace, log = reading.trace, reading.trace.snapshot.log
    call = reading.meeting
    made = trace.made_by(target_source(reading))
    if made is not None:
        numbers = {made.number, *trace.ancestors(made)}
        within = [each for each in trace.calls if each.number in numbers]
    else:
        within = []
    if any(each.op in _LAYERS and _has_parameter(each) for each in within):
        return True
    kept = [it for each in within for it in each.kept]
    if call is not None:
        kept += [it for it, given in zip(call.kept, call.inputs) if given is reading.target]
    origins = [] if log is None else [log.origin(it) for it in kept if type(it) is not Produced]
    return any(it is not None and (it.learned or it.evaluation is not None) for it in origins)


def _has_parameter(call: Traced) -> bool:
    """Whether weights go in: labels that are drawn by a matrix product have none."""
    return any(
        getattr(each, "requires_grad", False) or type(each).__name__ == "Parameter"
        for each in call.kept
    )


def rows_of(trace: Trace, source: Produced | None, tensor: Any) -> Rows | None:
    """Follow a tensor back to the one that its rows were taken from."""
    return _Follower(trace).rows(source, tensor)


class _Follower:
    """Follows tensors of one trace, each of them once."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._known: dict[Produced, Rows | None] = {}

    def rows(self, source: Produced | None, tensor: Any) -> Rows | None:
        if not getattr(tensor, "ndim", 0):
            return None
        if source is None:
            return _whole(id(tensor), tensor)
        if source not in self._known:
            self._follow_those_before(source)
            self._follow(source, tensor)
        return self._known[source]

    def _follow_those_before(self, source: Produced) -> None:
        """Oldest first, so that a long chain of calls is no deep recursion."""
        made = self._trace.made_by(source)
        if made is None:
            return
        before = self._trace.ancestors(made)
        for call in self._trace.calls:
            if call.number in before or call is made:
                for given, below in zip(call.inputs, call.sources):
                    if below is not None and below not in self._known and given.ndim:
                        self._follow(below, given)

    def _follow(self, source: Produced, tensor: Any) -> None:
        made = self._trace.made_by(source)
        found = None if made is None else self._through(made, int(tensor.shape[0]))
        self._known[source] = found or _whole(source, tensor)

    def _through(self, made: Traced, length: int) -> Rows | None:
        if made.op in ops.GETITEM | ops.INDEX_SELECT:
            return self._picked(made)
        if made.op in ops.STACK:
            return self._stacked(made)
        if made.op in ops.REORDERINGS:
            return self._reordered(made)
        if made.op in ops.ROW_MIXING or made.op in _PICKING:
            return None
        return self._passed_on(made, length)

    def _passed_on(self, made: Traced, length: int) -> Rows | None:
        """An op that works row by row: the rows are those of its inputs, if these agree."""
        found: Rows | None = None
        inputs = made.inputs[:1] if made.op in ops.MATRIX_PRODUCTS else made.inputs
        for given, source in zip(inputs, made.sources):
            if not given.ndim or int(given.shape[0]) != length or length == 1:
                continue
            rows = self.rows(source, given)
            if rows is None or (found is not None and not rows.same_as(found)):
                return None
            found = rows
        return found

    def _picked(self, made: Traced) -> Rows | None:
        below = self.rows(made.sources[0], made.inputs[0])
        index = self._index(made)
        if below is None or index is None or index.ndim != 1:
            return None
        return below.taken(index, made)

    def _index(self, made: Traced) -> np.ndarray[Any, Any] | None:
        """Which rows of its first argument a call takes."""
        length = int(made.inputs[0].shape[0]) if made.inputs[0].ndim else 0
        wanted = made.args[1] if len(made.args) > 1 else None
        if made.op in ops.INDEX_SELECT:
            numbers = [each for each in (*made.args[1:], *made.kwargs.values()) if _is_int(each)]
            wanted = made.inputs[1] if numbers == [0] else None
        if isinstance(wanted, tuple):
            wanted = wanted[0] if wanted else None
        if isinstance(wanted, self._trace.engine.tensor):
            wanted = self._trace.array(wanted)
        if isinstance(wanted, slice):
            return np.arange(length)[wanted]
        if _is_int(wanted):
            return np.asarray(wanted)
        if isinstance(wanted, (list, range, np.ndarray)):
            array = np.asarray(wanted)
            if array.dtype.kind == "b" and array.shape == (length,):
                return np.flatnonzero(array)
            if array.dtype.kind in "iu" and array.ndim <= 1 and length:
                return array % length
        return None

    def _stacked(self, made: Traced) -> Rows | None:
        """A batch that was put together row by row."""
        picked = [self._trace.made_by(source) for source in made.sources]
        index: list[int] = []
        owners = set()
        for each in picked:
            row = None if each is None or each.op not in ops.GETITEM else self._index(each)
            if each is None or row is None or row.ndim != 0:
                return None
            index.append(int(row))
            owners.add(each.sources[0] or id(each.inputs[0]))
        first = picked[0] if picked else None
        below = None if first is None else self.rows(first.sources[0], first.inputs[0])
        if below is None or len(owners) != 1:
            return None
        return below.taken(np.asarray(index), made)

    def _reordered(self, made: Traced) -> Rows | None:
        given = made.inputs[0]
        below = self.rows(made.sources[0], given)
        values = self._trace.array(given)
        first = [each % values.ndim == 0 for each in _dims(made)]
        if below is None or not any(first):
            return below
        if made.op in ops.SORT:
            order = np.argsort(values.reshape(len(values), -1)[:, 0], kind="stable")
            order = order[::-1] if made.argument(2, "descending", False) else order
        elif made.op in ops.FLIP:
            order = np.arange(len(values))[::-1]
        else:
            shifts = made.argument(1, "shifts")
            shift = shifts if isinstance(shifts, int) else shifts[first.index(True)]
            order = np.roll(np.arange(len(values)), shift)
        return below.taken(order, made)


def _dims(made: Traced) -> tuple[int, ...]:
    """The dimensions that a call reorders."""
    if made.op in ops.SORT:
        found = made.argument(1, "dim", -1)
    elif made.op in ops.FLIP:
        found = made.argument(1, "dims", ())
    else:
        found = made.argument(2, "dims", ())
    return (found,) if isinstance(found, int) else tuple(found or ())


def _whole(base: object, tensor: Any) -> Rows:
    return Rows(base, tensor, np.arange(int(tensor.shape[0])))


def _is_int(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def making(trace: Trace, source: Produced | None) -> Traced | None:
    """The call that computed a batch: behind cutting, stacking and reshaping."""
    made = trace.made_by(source)
    while made is not None and made.sources and (made.op in _PICKING or made.op in ops.RESHAPING):
        made = trace.made_by(made.sources[0])
    return made


def chosen_draws(trace: Trace) -> list[Traced]:
    """The calls that pick the log-probability of what was drawn from the model's own answers."""
    log = trace.snapshot.log
    found = []
    for call in trace.calls:
        if call.op not in ops.INDEXED or not call.inputs or not call.inputs[0].requires_grad:
            continue
        for given, source in zip(call.kept[1:], call.sources[1:]):
            made = trace.made_by(source)
            numbers = set() if made is None else {made.number, *trace.ancestors(made)}
            calls = [each for each in trace.calls if each.number in numbers]
            leaves = [given, *(one for each in calls for one in each.kept)]
            origins = [log.origin(one) for one in leaves
                       if log is not None and type(one) is not Produced]  # fmt: skip
            if any(each.op in ops.DRAWS for each in calls) or any(
                origin is not None and origin.learned for origin in origins
            ):
                found.append(call)
    return found
