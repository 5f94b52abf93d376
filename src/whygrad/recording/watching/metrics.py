"""How the program judges its model: comparisons of answers with labels, outside of gradients.

Accuracies are computed by the program itself, in a few calls: the largest of each row, equal to the
label or not, the sum.  The first times that a line does so are kept, with shapes, values and the
ops that led there from the model's output; of a function those for each line that calls it.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

import numpy as np

from whygrad.ops import families as ops
from whygrad.recording.calls import CallLog, Produced, members
from whygrad.recording.engines import Engine
from whygrad.recording.evaluation import Comparison, Side
from whygrad.recording.ranges import summarize, thinned
from whygrad.recording.record import Run
from whygrad.recording.watching.sampler import is_sampled
from whygrad.recording.watching.snapshots import Snapshots
from whygrad.source import Where, call_key, program_frame

__all__ = ["METRICS", "Metrics"]

METRICS = (
    ops.EQUALITIES | ops.ORDERINGS | ops.POSITIONS | ops.EXTREMES | ops.DIFFERENCES | ops.LOSSES
)
_FIRST = 4  # comparisons of one line that are kept
_LINES = 128
_VAIN = 32  # comparisons of a line that have nothing to do with a model: then fewer are looked at
_STEPS = 16  # ops between an output and what is compared
_MARKS = 64  # calls of modules among which the model's is looked for


class Metrics:
    """Notes the first comparisons of each line."""

    def __init__(self, run: Run, snapshots: Snapshots) -> None:
        self._run = run
        self._snapshots = snapshots
        self._seen: dict[tuple[int, ...], int] = {}
        self._vain: dict[tuple[int, ...], int] = {}

    def note(
        self,
        engine: Engine,
        op: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: Any,
        frame: FrameType,
    ) -> None:
        """The program compared something, or looked for the largest."""
        key = call_key(frame)  # one function may judge in training and elsewhere
        seen, vain = self._seen.get(key, 0), self._vain.get(key, 0)
        if seen >= _FIRST or (not seen and len(self._seen) >= _LINES):
            return
        if vain >= _VAIN and not is_sampled(vain):
            self._vain[key] = vain + 1
            return
        named = [kwargs[each] for each in ("other", "target") if each in kwargs]
        given = [*args[:2], *named]
        tensors = [each for each in given if isinstance(each, engine.tensor)]
        arithmetic = op in ops.DIFFERENCES or op in ops.LOSSES
        if not tensors or (arithmetic and len(tensors) < 2):
            return
        chooses = op in ops.POSITIONS or op in ops.EXTREMES
        dim = kwargs.get("dim", args[1] if chooses and len(args) > 1 else None)
        if chooses and not isinstance(dim, int):
            return
        log = self._snapshots.log(engine)
        steps = [self._steps(log, each) for each in tensors]
        if all(each is None for each in steps):
            self._vain[key] = vain + 1
            return  # the data are compared among themselves
        self._seen[key] = seen + 1
        sides = tuple([_side(engine.array(each), way) for each, way in zip(tensors, steps)])
        first = result[0] if isinstance(result, tuple) else result
        where, outer = (
            Where(frame.f_code, frame.f_lasti),
            frame.f_back and program_frame(frame.f_back),
        )
        made = Comparison(op, where, len(self._run.passes), sides, tuple(first.shape))
        made.by = None if outer is None else Where(outer.f_code, outer.f_lasti)
        if op in ops.COMPARISONS:
            made.agreed = float(np.mean(engine.array(result))) if first.numel() else 0.0
            made.agreed = 1 - made.agreed if op in ops.UNEQUAL else made.agreed
            numbers = [each for each in given if isinstance(each, (int, float))]
            made.number = float(numbers[0]) if numbers else None
        elif chooses:
            made.dim = dim
        self._run.comparisons.append(made)

    def _steps(self, log: CallLog, tensor: Any) -> tuple[str, ...] | None:
        """The ops between the output of a model and a tensor; None if it is of no model."""
        origin = log.evaluated((tensor,))
        if origin is not None:
            return origin.steps
        source = log.source(tensor)
        if source is None:
            return None
        outputs = {
            each
            for mark in self._snapshots.marks[-_MARKS:]
            if mark.depth == 0 and next(iter(mark.module.parameters()), None) is not None
            for each in members(mark.outputs)
            if type(each) is Produced
        }
        found: list[str] = []
        while source is not None and source not in outputs and len(found) < _STEPS:
            call = log.call(source.call)
            if call is None:
                return None
            found.append(call.op)
            source = next((each for each in call.args if type(each) is Produced), None)
        return tuple(found[::-1]) if source in outputs else None


def _side(array: np.ndarray[Any, Any], steps: tuple[str, ...] | None) -> Side:
    some = thinned(array)
    whole = 1.0
    if some.dtype.kind == "f" and some.size:
        whole = float(np.mean(some == np.rint(some)))
    beyond = float(np.mean((some < 0) | (some > 1))) if some.size else 0.0
    return Side(summarize(array), whole, beyond, steps)
