"""Looks when the program comes to a statement that judges its model outside of any engine.

A model that is called without training is about to be judged.  From then on, for as long as that
takes, Python tells of the lines that are reached (:func:`sys.settrace`), and at those that lay two
lists of numbers beside each other a few numbers about them are kept.  What this costs is counted,
and limited for the whole run.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any, NamedTuple

from whygrad.recording.engines import Engine
from whygrad.recording.judging.looks import Gone, Judged, listed, paired
from whygrad.recording.judging.statements import Judging, calls_of, judgings, last_name, loop_around
from whygrad.recording.judging.values import NOTHING, Values
from whygrad.recording.ranges import Array
from whygrad.recording.record import Run
from whygrad.source import Calls, Where, in_program

__all__ = ["Lookout"]

_EVENTS = 1_500_000  # calls and lines that Python may tell of, in the whole run …
_ROUND = 300_000  # … and between two passes
_FIRST = 3  # looks at a line that are kept, with the latest one
_VISITS = 4  # looks at a line between two passes
_LINES = 64
_CALLERS = 4
_FEW = 8  # numbers on a side: fewer are no list of answers
_LATER = 8  # rounds that are all looked at; then ever fewer


class _Asked(NamedTuple):
    """A comparison of what a call gives back."""

    judging: Judging
    call: ast.Call
    file: str
    line: int  # of the statement

    def covers(self, line: int) -> bool:
        return self.call.lineno <= line <= (self.call.end_lineno or self.call.lineno)


class Lookout:
    """Waits for the statements that judge."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._engine: Engine | None = None
        self._gone: Gone | None = None
        self._called: Calls = []
        self._files: dict[str, dict[int, tuple[Judging, ...]]] = {}
        self._given: dict[str, list[_Asked]] = {}  # by the function whose answer is compared
        self._unseen: set[tuple[str, int]] = set()
        self._loops: dict[tuple[int, int], tuple[int, ast.expr] | None] = {}
        self._went: tuple[int, ...] = ()  # tells what was gone through last from others
        self._visits: dict[tuple[str, int], int] = {}  # of lines, in this round
        self._on = False
        self._events = 0
        self._until = 0  # events
        self._passes = -1
        self._rounds = 0

    def evaluated(self, engine: Engine, frame: FrameType) -> None:
        """A model is called at a place of the program, and not for training."""
        if self._passes != len(self._run.passes):
            self._passes = len(self._run.passes)
            self._rounds += 1
            self._until = min(_EVENTS, self._events + _ROUND)
            self._visits.clear()
        if self._events >= self._until:
            return
        self._engine = engine
        outer = self._frames(frame)
        if self._on or self._begins(engine, outer):
            self._called = _lines(outer)
            self._go_through(engine, outer)

    def _begins(self, engine: Engine, outer: list[FrameType]) -> bool:
        for each in outer:
            self._read(each)
        if not self._is_due() or sys.gettrace() is not None or engine.compiles():
            return False
        self._on = True
        for each in outer:
            if self._files[each.f_code.co_filename]:
                each.f_trace = self._at_line
        sys.settrace(self._at_call)
        return True

    def rest(self) -> None:
        """Look no further for now."""
        if self._on:
            self._on = False
            if sys.gettrace() == self._at_call:
                sys.settrace(None)

    def _is_due(self) -> bool:
        """Whether a line has not been seen yet, or it is time for another look at the others."""
        if not any(self._files.values()):
            return False
        later = self._rounds >= _LATER and self._rounds & (self._rounds - 1)
        return bool(self._unseen) or not later

    def _frames(self, frame: FrameType | None) -> list[FrameType]:
        found: list[FrameType] = []
        while frame is not None:
            if in_program(frame.f_code.co_filename):
                found.append(frame)
                if frame.f_code.co_name == "<module>":
                    break
            frame = frame.f_back
        return found

    def _read(self, frame: FrameType) -> None:
        file = frame.f_code.co_filename
        if file not in self._files:
            text = "".join(Where(frame.f_code, frame.f_lasti).source)
            found = judgings(text)
            self._files[file] = found if len(found) <= _LINES else {}
            self._unseen |= {(file, line) for line in self._files[file]}
            for line, known in self._files[file].items():
                for each in known:
                    for call in calls_of(each.sides):
                        asked = _Asked(each, call, file, line)
                        self._given.setdefault(last_name(call.func), []).append(asked)

    def _at_call(self, frame: FrameType, event: str, _: Any) -> Any:
        if not self._goes_on():
            return None
        return self._at_line if self._files.get(frame.f_code.co_filename) else None

    def _at_line(self, frame: FrameType, event: str, given: Any) -> Any:
        if not self._goes_on():
            return None
        if event == "return" and given is not None:
            self._at_return(frame, given)
        place = frame.f_code.co_filename, frame.f_lineno
        wanted = self._files[place[0]].get(place[1]) if event == "line" else None
        if wanted:
            self._unseen.discard(place)
            self._visits[place] = self._visits.get(place, 0) + 1
            if self._visits[place] <= _VISITS:
                self._look_at_all(frame, wanted)
        return self._at_line

    def _at_return(self, frame: FrameType, given: Any) -> None:
        """A function of the program gives back what a statement compares: ``error(y, predict(x))``.

        When that statement was reached, it was not known yet.
        """
        name = frame.f_code.co_name
        asking = self._frames(frame.f_back)[:1] if name in self._given else []
        for outer in asking:
            file, line = outer.f_code.co_filename, outer.f_lineno
            asked = [each for each in self._given[name] if each.file == file and each.covers(line)]
            place = file, asked[0].line if asked else line
            if asked and self._visits.get(place, 0) < _VISITS:
                self._visits[place] = self._visits.get(place, 0) + 1
                self._unseen.discard(place)
                self._look_at_all(outer, tuple(each.judging for each in asked), {name: given})

    def _goes_on(self) -> bool:
        """Whether the program still judges, as far as is known, and looking costs little."""
        self._events += 1
        if not self._on or self._events >= self._until or self._passes != len(self._run.passes):
            self.rest()
            return False
        return True

    def _look_at_all(
        self, frame: FrameType, wanted: tuple[Judging, ...], made: Mapping[str, Any] = NOTHING
    ) -> None:
        try:
            for each in wanted:
                self._look(frame, each, made)
        except Exception as error:
            self._run.trouble(error)

    def _look(self, frame: FrameType, wanted: Judging, made_by: Mapping[str, Any]) -> None:
        assert self._engine is not None
        values = Values(self._engine, frame.f_locals, frame.f_globals, made_by)
        where = Where(frame.f_code, frame.f_lasti)
        made: Judged | None = None
        with self._engine.unwatched():
            if wanted.kind in ("quotient", "choice"):
                made = self._numbers(values, wanted, where)
            else:
                arrays = [values.array(each) for each in wanted.sides]
                known = [each for each in arrays if each is not None and each.size >= _FEW]
                if len(known) == len(arrays):
                    made = self._beside(known, wanted, where)
        if made is not None:
            made.callers, made.called = _lines(self._frames(frame)), self._called
            self._keep(made)

    def _beside(self, arrays: list[Array], wanted: Judging, where: Where) -> Judged:
        texts = [ast.unparse(each) for each in wanted.sides]
        sides = tuple(map(listed, texts, arrays))
        pair = paired(*arrays) if len(arrays) == 2 else None
        return Judged(
            wanted.kind,
            wanted.name,
            where,
            [],
            [],
            self._passes,
            sides,
            pair,
            self._gone,
            wanted.number,
        )

    def _numbers(self, values: Values, wanted: Judging, where: Where) -> Judged | None:
        """Two numbers in place of two lists."""
        one, other = map(values.number, wanted.sides)
        if other is None:
            return None
        name = wanted.name or " / ".join(map(ast.unparse, wanted.sides))
        return Judged(
            wanted.kind, name, where, [], [], self._passes, (), None, self._gone, one, other
        )

    def _keep(self, made: Judged) -> None:
        texts = tuple(each.text for each in made.sides)
        kept = self._run.judged.setdefault((*made.where.key, made.kind, made.name, texts), [])
        if len(kept) > _FIRST:
            kept.pop()
        kept.append(made)

    def _go_through(self, engine: Engine, outer: list[FrameType]) -> None:
        """Note the loader of the loop around the call of a model, or around what led there."""
        for each in outer[:_CALLERS]:
            key = id(each.f_code), each.f_lasti
            if key not in self._loops:
                text = "".join(Where(each.f_code, each.f_lasti).source)
                self._loops[key] = loop_around(text, each.f_lineno)
            loop = self._loops[key]
            if loop is None:
                continue
            values = Values(engine, each.f_locals, each.f_globals)
            same = *key, id(values.thing(loop[1])), self._passes
            if same == self._went:  # another batch of it
                return
            with engine.unwatched():
                found = _gone(values, loop[1], loop[0], each.f_code.co_filename)
            if found is not None:
                self._gone, self._went = found, same
                return
        self._gone, self._went = None, ()


def _lines(frames: list[FrameType]) -> Calls:
    return [(each.f_code, each.f_lasti) for each in frames[:_CALLERS]]


def _gone(values: Values, through: ast.expr, line: int, file: str) -> Gone | None:
    """What a loader of PyTorch's says about the order of its samples, or a range about theirs."""
    stop = values.rounds(through)
    if stop is not None:
        return Gone("", int(stop), int(stop), line, file)
    held = getattr(values.thing(through), "__dict__", {})
    if not {"sampler", "dataset", "batch_sampler"} <= set(held):
        return None
    sampler, data = held["sampler"], held["dataset"]
    if not (hasattr(sampler, "__len__") and hasattr(data, "__len__")):
        return None  # samples that come one after the other, as long as there are any
    return Gone(type(sampler).__name__, len(sampler), len(data), line, file)
