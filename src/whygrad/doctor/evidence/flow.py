"""Follow a value from call to call: what computed it, which axis is which, which line it stands on.

Reshaping, indexing and casting hand values on without computing anything.  :func:`follow` walks
back through such calls to the one that computed the values, so "softmax, then squeeze, then the
loss" is seen as "softmax, then the loss".  Which axis is which after all the reshaping is not
guessed from sizes: :func:`carry` sends the numbers of the features along the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.reading import Reading
from whygrad.source import Where

__all__ = [
    "Way",
    "axis_of",
    "carry",
    "chosen_at",
    "feature_axis",
    "first_readings",
    "first_traces",
    "follow",
    "is_sigmoid",
    "is_tanh_state",
    "line_of",
    "shape_of",
    "sums_to_one",
]

_HANDING_ON = ops.RESHAPING | ops.PICKS | ops.SPLITS | ops.MASKED_FILL


def first_traces(case: Case) -> Iterator[Trace]:
    """The passes of each course's first update, replayed; without updates, the first pass.

    Of passes that begin on the same line, as in gradient accumulation, one stands for all.
    """
    passes = [each for course in case.courses for each in course.steps[0].passes]
    lines: set[Where] = set()
    for each in passes or case.run.passes[:1]:
        trace = case.trace(each.snapshot) if each.where not in lines else None
        if trace is not None:
            lines.add(each.where)
            yield trace


def first_readings(case: Case) -> Iterator[Reading]:
    """The same passes, with what is the model, the prediction, the target and the loss in them."""
    for trace in first_traces(case):
        reading = case.reading(trace.snapshot)
        if reading is not None:
            yield reading


@dataclass(eq=False)
class Way:
    """From the call that computed a value to the place where the value is used."""

    maker: Traced | None  # None: the value came from outside of the step
    source: Produced | None  # its result, before it was passed on
    passed: list[tuple[Traced, int, int]]  # calls on the way, the input and the output it took

    @property
    def op(self) -> str:
        return "" if self.maker is None else self.maker.op


def follow(trace: Trace, source: Produced | None) -> Way:
    """Back from a value to the call that computed it."""
    passed: list[tuple[Traced, int, int]] = []
    while True:
        made = trace.made_by(source)
        if made is None or source is None:
            return Way(None, None, passed[::-1])
        place = _handed_on(made, source.place)
        if place is None and made.op in ops.JOINS and _is_uniform(trace, made.sources):
            place = 0
        if place is None and made.op in ops.SETITEM and _is_uniform(trace, _written(trace, made)):
            place = len(made.inputs) - 1
        if place is None:
            return Way(made, source, passed[::-1])
        passed.append((made, place, source.place))
        source = made.sources[place]


def _handed_on(call: Traced, result: int) -> int | None:
    """Which input a call hands on as it is; None if it computes something."""
    if not call.inputs:
        return None
    if call.op in _HANDING_ON:
        return 0
    if call.op in ops.BROADCAST_TENSORS:
        return result
    if call.op in ops.WHERE:  # a mask: one branch is learned, the other is a number
        learned = [place for place, each in enumerate(call.inputs) if each.requires_grad]
        return learned[0] if len(learned) == 1 else None
    return None


def _written(trace: Trace, call: Traced) -> list[Produced | None]:
    """What this and earlier calls wrote into a buffer; nothing if other values are in it too."""
    found = []
    made: Traced | None = call
    while made is not None and made.op in ops.SETITEM:
        if len(made.inputs) < 2:
            return []  # a number
        found.append(made.sources[-1])
        made = trace.made_by(made.sources[0])
    blank = made is None or not any(each.requires_grad for each in made.outputs)
    return found if blank else []


def _is_uniform(trace: Trace, sources: list[Produced | None]) -> bool:
    """Whether the parts that are put together were all computed by the same kind of call."""
    kinds = set()
    for source in sources:
        made = trace.made_by(source)
        while made is not None and (place := _handed_on(made, 0)) is not None:
            made = trace.made_by(made.sources[place])
        kinds.add("" if made is None else made.op)
    return len(kinds) == 1 and not ops.JOINS.any_of(kinds)


def carry(trace: Trace, way: Way, labels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """Send an array of the maker's shape along a way; None where it joined other values."""
    engine = trace.engine
    with engine.unwatched(), engine.namespace.no_grad():
        moved: Any = engine.namespace.tensor(np.ascontiguousarray(labels, dtype=np.float32))
        for call, place, result in way.passed:
            if call.op in ops.JOINS | ops.SETITEM or call.op in ops.CHOICES:
                if tuple(call.outputs[0].shape) != tuple(moved.shape):
                    return None
                continue
            given = call.inputs[place]
            args = tuple(moved if each is given else each for each in call.args)
            kwargs = {name: moved if each is given else each for name, each in call.kwargs.items()}
            made = call.call.function(*args, **kwargs)
            moved = made[result] if isinstance(made, (tuple, list)) else made
        return engine.array(moved)


def feature_axis(trace: Trace, way: Way) -> tuple[tuple[int, ...], int] | None:
    """Shape and axis of the features of a layer with learned weights, if that is the maker."""
    maker = way.maker
    for _ in range(2):  # a bias may be added by hand
        if maker is None or not maker.outputs:
            return None
        if maker.op in ops.ADD | ops.SUB and _adds_bias(maker):
            maker = follow(trace, next(each for each in maker.sources if each is not None)).maker
    if maker is None or maker.op not in ops.LINEAR or not _has_weight(trace, maker):
        return None
    shape = shape_of(maker.outputs[0])
    if not shape:
        return None
    return shape, 1 if maker.op in ops.CONVOLUTIONS and len(shape) > 1 else len(shape) - 1


def _adds_bias(call: Traced) -> bool:
    kinds = [each is None for each in call.sources]
    return any(kinds) and not all(kinds) and call.inputs[kinds.index(True)].requires_grad


def _has_weight(trace: Trace, call: Traced) -> bool:
    """Whether the features are counted by a learned weight: not so in a product of activations."""
    leaves = {id(each) for each in trace.parameters.values()}
    for given, source in zip(call.inputs[1:], call.sources[1:]):
        way = follow(trace, source)
        if way.maker is None and way.passed:  # a weight that is transposed on the way
            first, place, _ = way.passed[0]
            given = first.inputs[place]
        if id(given) in leaves:
            return True
    return False


def shape_of(tensor: Any) -> tuple[int, ...]:
    return tuple(int(each) for each in tensor.shape)


def sums_to_one(values: np.ndarray[Any, Any], axis: int) -> bool:
    """Whether these are probabilities along an axis."""
    if not values.size or not np.isfinite(values).all() or values.min() < 0:
        return False
    return bool(np.abs(values.sum(axis=axis) - 1).max() < 1e-3)


def axis_of(call: Traced) -> int:
    """The axis that a softmax or its like runs along."""
    rank = len(shape_of(call.inputs[0]))
    default = 1 if call.op in ops.GATHERS | ops.SOFTMAXES else -1
    place = 4 if call.op in ops.GUMBEL_SOFTMAX else 1
    dim = call.argument(place, "dim", None)
    if isinstance(dim, (tuple, list)):
        dim = dim[0] if dim else None
    if not isinstance(dim, int):
        dim = 0 if rank in (0, 1, 3) else default
    return int(dim) % max(1, rank)


def is_sigmoid(trace: Trace, call: Traced | None) -> bool:
    """A sigmoid, also one written as ``1 / (1 + exp(-x))``."""
    if call is None:
        return False
    if call.op in ops.SIGMOIDS:
        return True
    if call.op not in ops.DIV | ops.INVERSES or len(call.inputs) != 1:
        return False
    below = follow(trace, call.sources[0]).maker
    if below is None or below.op not in ops.ADD or len(below.inputs) != 1:
        return False
    return follow(trace, below.sources[0]).op in ops.EXP


def is_tanh_state(call: Traced | None, place: int) -> bool:
    """Whether a result is the state of a recurrent layer, which a tanh keeps within −1 and 1.

    Not so the memory of an LSTM, its last result of three, and a state that is projected.
    """
    if call is None or call.op not in ops.TANH_STATES:
        return False
    if call.op not in ops.SEQUENCES or len(call.outputs) < 3:
        return place == 0 or call.op in ops.SEQUENCES
    return place < 2 and shape_of(call.outputs[1])[-1] == shape_of(call.outputs[2])[-1]


def line_of(case: Case, trace: Trace, call: Traced) -> Where:
    """The line of a call; for a layer in a Sequential, the line of the list where it is made."""
    for mark in trace.marks():
        if mark.path != call.module or not mark.before <= call.number < mark.after:
            continue
        library = type(mark.module).__module__.partition(".")[0] in ("torch", "whygrad")
        inside = mark.depth > 0 and library and next(mark.module.children(), None) is None
        made = case.run.made.get(id(mark.module))
        if inside and made is not None and not _in_forward(trace, mark.path, call):
            return made
    return call.where


def chosen_at(case: Case, trace: Trace, call: Traced) -> Where | None:
    """Where the module was made that calls a loss function."""
    made = [
        case.run.made.get(id(mark.module))
        for mark in trace.marks()
        if mark.before <= call.number < mark.after and mark.kind == call.module
    ]
    return next((each for each in made if each is not None), None)


def _in_forward(trace: Trace, path: str, call: Traced) -> bool:
    """Whether the program's own ``forward`` calls the layer, and no container of the library."""
    home = path.rpartition(".")[0]
    for mark in trace.marks():
        if mark.path == home and mark.before <= call.number < mark.after:
            return type(mark.module).__module__.partition(".")[0] not in ("torch", "whygrad")
    return False
