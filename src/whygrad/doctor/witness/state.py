"""What the witness of a run remembers, and when it looks closely.

The closer look (layer statistics, a snapshot, update sizes) is for sampled steps: all of the first
8, then 2 in every doubling, counted anew from the first step of another optimizer, and the first
one that goes bad.  Between them a run that goes well is left alone (:mod:`.sampler`), and the eyes
are closed: the engines hand over nothing until a sampled step comes or the program does something
else than training.  The schedule counts steps and not time, so the same program gets the same
report.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import CodeType
from typing import Any, Protocol

from whygrad.doctor.engines import Engine
from whygrad.doctor.recording.calls import CallLog
from whygrad.doctor.recording.parameters import Registry
from whygrad.doctor.recording.reconstruction import Given
from whygrad.doctor.recording.record import (
    Clip,
    Course,
    Mark,
    Pass,
    Run,
    Sample,
    Snapshot,
)
from whygrad.doctor.recording.retention import Keeping
from whygrad.doctor.recording.sampler import Vigilance
from whygrad.doctor.recording.scope import Scope
from whygrad.doctor.recording.sizes import Sizes
from whygrad.source import Where

__all__ = ["State", "is_sampled"]


def is_sampled(number: int) -> bool:
    """Whether the pass with this number gets the closer look."""
    return number < 8 or number % (1 << (number.bit_length() - 2)) == 0


class Dozer(Protocol):
    """Closes the eyes for one engine, and opens them."""

    def begin(self) -> None: ...

    def end(self) -> None: ...


class State:
    """All that is known while a run goes on, and what every part of the witness needs."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.scope = Scope()
        self.registry = Registry(run)
        self._tapes: dict[str, CallLog] = {}
        self._stack: list[tuple[Any, str, int]] = []  # modules that are running
        self._path = ""  # of the innermost
        self._in_model = False  # whether the outermost has parameters: a loss module has none
        self._marks: list[Mark] = []
        self._inputs: list[float] = []
        self._targets: list[float] = []
        self._training: bool | None = None
        self._sample: Sample | None = Sample()
        self._pending: list[Pass] = []
        self._stepped = False  # whether an update came after the last pass
        self._zeroed = False
        self._clips: list[Clip] = []
        self._consumed: dict[int, bool] = {}  # courses whose gradients an update has used
        self._contaminated: set[int] = set()
        self._used: dict[int, int] = {}  # course -> number of the last pass it has used
        self._boundaries: list[int] = []  # ends of the tape at the latest updates
        self._keeping = Keeping(run)
        self._vigilance = Vigilance()
        self.resting = False  # whether recorded calls go by unseen
        self.dozing = False  # whether the engines hand over no calls at all
        self.dozers: list[Dozer] = []
        # Lines that call a model in order to train it.
        self._familiar: dict[tuple[int, int], Where] = {}
        # Lines that turn to something else: the pass they did so last, and how often in a row.
        self._ends: dict[int, list[Any]] = {}  # where the network of a course begins and ends
        self._pauses: dict[tuple[int, int], tuple[int, int, CodeType | None]] = {}
        self._rested = False  # whether any did
        self._recipe: Snapshot | None = None  # the latest one: what a step is like
        self._given = Given()  # what this pass was given so far, while resting
        self._unseen: dict[int, Given] = {}  # the same of the passes since the last update
        self._by_hand: dict[int, Where] = {}  # parameters the program wrote to since the last pass
        self._hand_course: Course | None = None
        self._hand_norms = Sizes({})
        self._optimizing = 0
        self.updating: list[Any] = []  # optimizers whose updates nobody needs to hear of
        self._began = 0  # the pass with which the latest optimizer began
        self._scheduled = 0  # the pass up to which it is known which steps are sampled
        self.inside_models = 0  # calls of models that are under way unseen
        self._more = 0  # steps that are sampled because the one before was, of another course
        self._in_closure = False
        self._evaluated: tuple[Any, ...] = ()  # what a model was given last, without gradients

    def tape(self, engine: Engine) -> CallLog:
        tape = self._tapes.get(engine.name)
        if tape is None:
            tape = self._tapes[engine.name] = CallLog(engine.tensor)
        return tape

    def _is_sampled(self, number: int) -> bool:
        """Whether a pass gets the closer look, as counted from where its optimizer began."""
        return is_sampled(number - self._began)

    def has_met(self, engine: Engine) -> bool:
        """Whether the program has called anything of an engine's."""
        return engine.name in self._tapes

    def _is_due(self, number: int) -> bool:
        """Whether the step that begins with pass ``number`` gets the closer look.

        A step may have several passes, and the number of a sampled one among them.  Courses that
        take turns are looked at one after the other.
        """
        begun, self._scheduled = self._scheduled, number
        if self._is_sampled(number) or any(map(self._is_sampled, range(begun + 1, number))):
            numbers = [
                each.optimizer.number
                for each in self.run.courses
                if each.optimizer.thing is not None
            ]
            self._more = max(1, sum(self._used.get(each, -1) >= self._began for each in numbers))
        self._more -= 1
        return self._more >= 0 or number == 0

    def settle(self) -> None:
        """Between two steps: close the eyes for the next one, or open them."""
        if not self.resting:
            self.stir()
        elif not self.dozing and not self._optimizing:
            self.dozing = True
            self._ends.clear()
            for each in self.dozers:
                each.begin()

    def stir(self) -> None:
        """Something else than a training step happens: open the eyes until the next one."""
        if self.dozing and not self._optimizing:
            self.dozing = False
            for each in self.dozers:
                each.end()

    def trouble(self, error: Exception) -> None:
        """The doctor itself went wrong: the program must not notice, the report says so."""
        text = f"{type(error).__name__}: {error}"
        if text not in self.run.troubles and len(self.run.troubles) < 8:
            self.run.troubles.append(text)

    @property
    def carried(self) -> list[tuple[Where, int]]:
        """Lines that use results of earlier updates with their graph, and how often they did."""
        return [(Where(*place), count) for place, count in self._keeping.carried.items()]

    def _engines(self) -> Iterable[Engine]:
        from whygrad.doctor.engines import engines

        return [each for each in engines().values() if each.name in self._tapes]
