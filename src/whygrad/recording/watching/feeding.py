"""What each line gives to a model: marks of the samples and how large their values are.

The same samples in training and in evaluation, or samples that were prepared in another way, show
here.  Of a line that calls a model again and again, the first calls are looked at, and then ever
fewer.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

from whygrad.recording.engines import Engine
from whygrad.recording.evaluation import Fed
from whygrad.recording.ranges import sample_marks, summarize
from whygrad.recording.record import Run
from whygrad.recording.watching.sampler import is_sampled
from whygrad.source import Calls, Where, in_program

__all__ = ["Feeding"]

_LINES = 64
_CALLERS = 4
_ELEMENTS = 1 << 18  # of a batch that are looked at
_ROWS = 512  # of a batch …
_MOST = 16_384  # … and of a line
_RANGES = 32


class Feeding:
    """Notes what models are given."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def note(
        self,
        engine: Engine,
        module: Any,
        args: Any,
        recorded: bool,
        sampled: bool,
        frame: FrameType,
    ) -> None:
        """A model is called by the program; ``sampled``: in a step that is looked at closely.

        One whose weights are all frozen is not trained, though gradients are recorded.
        """
        recorded = recorded and any(each.requires_grad for each in module.parameters())
        callers = _callers(frame)
        key = id(module), recorded, *[(id(code), instruction) for code, instruction in callers]
        known = self._run.fed.get(key)
        if known is None:
            if len(self._run.fed) >= _LINES:
                return
            where = Where(frame.f_code, frame.f_lasti)
            known = self._run.fed[key] = Fed(module, where, recorded, callers)
        known.calls += 1
        if not (is_sampled(known.calls - 1) or sampled):
            return
        given: Any = next((each for each in args if isinstance(each, engine.tensor)), None)
        if given is None or given.ndim < 2 or not given.is_floating_point() or not given.numel():
            return
        if known.after != len(self._run.passes):
            known.after, known.late = len(self._run.passes), set()
        if given.layout is not engine.namespace.strided:  # sparse rows are not taken one by one
            return
        rows = max(1, min(_ROWS, _ELEMENTS * len(given) // given.numel()))
        with engine.unrecorded():
            array = engine.array(given[:rows])
        if len(known.ranges) < _RANGES:
            known.ranges.append(summarize(array))
        for mark in sample_marks(array) if len(known.rows) < _MOST else ():
            if mark not in known.rows:
                known.late.add(mark)
            known.rows[mark] = known.rows.get(mark, 0) + 1


def _callers(frame: FrameType | None) -> Calls:
    found: Calls = []
    while frame is not None and len(found) < _CALLERS:
        if in_program(frame.f_code.co_filename):
            found.append((frame.f_code, frame.f_lasti))
            if frame.f_code.co_name == "<module>":
                break
        frame = frame.f_back
    return found
