"""Updates that the program makes itself: ``p.data -= rate * p.grad``.

While calls are recorded a write to a parameter shows them.  While they are not, the parameters do:
at the next pass they are others.  No call ends such an update, so the step after it begins with the
end of the pass that it uses; how many passes that takes, the updates before have told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from whygrad.recording.engines import Engine
from whygrad.recording.record import Course, Parameter, Sample
from whygrad.recording.sizes import Sizes
from whygrad.recording.watching.courses import Courses
from whygrad.source import Where

__all__ = ["ByHand"]

_FEW = 16  # values of a parameter that show whether it is another one …
_ENDS = 2  # … of the first and of the last that were written to
_LONG_AGO = 256  # passes without an update of a course: nobody asks for more

Updated = tuple[Course | None, Where | None]  # None: of models that are one too many


class _Ends:
    """Parameters that an update writes to, and what was in them."""

    def __init__(self, engine: Engine, written: list[Parameter], where: Where | None) -> None:
        self._engine = engine
        self._tensors = [each.tensor for each in (written[:1] + written[1:][-1:])]
        self.where = where
        self.held = self.now()

    def now(self) -> list[np.ndarray[Any, Any]]:
        return [self._engine.few(each, _FEW) for each in self._tensors]

    def have_changed(self) -> bool:
        """Whether they have since this was asked last."""
        before, self.held = self.held, self.now()
        pairs = zip(before, self.held, strict=True)
        return not all(np.array_equal(one, other, equal_nan=True) for one, other in pairs)


class ByHand:
    """What is known of the updates by hand of one run."""

    def __init__(self, courses: Courses) -> None:
        self._courses = courses
        self.expected = False  # whether the latest passes were used by such an update
        self.begun = False  # whether the step after the update to come has begun already
        self.sample: Sample | None = None  # of the step before that one
        self.sizes: Mapping[str, float | None] = Sizes({})  # of the gradients of the latest pass
        self._latest: Course | None = None
        self._ends: dict[int, _Ends] = {}  # by course
        self._unknown = False  # whether the latest one was of a model that is one too many

    @property
    def course(self) -> Course | None:
        """The course of the latest update."""
        return self._latest

    def updates(self, engine: Engine, number: int, unseen: bool) -> list[Updated]:
        """Those since this was asked last, before pass ``number``; ``unseen``: of steps whose calls
        are not recorded.
        """
        courses = self._courses
        if courses.written:
            updated = courses.updated_by_hand()
            for course, written, where in reversed(updated):
                self._latest, self._unknown = course, course is None
                if course is not None:
                    self._ends[course.optimizer.number] = _Ends(engine, written, where)
            return [(course, where) for course, _, where in updated]
        if not unseen:
            return []
        found: list[Updated] = []
        for course in courses.by_hand:
            ends = self._ends.get(course.optimizer.number)
            if ends is None or number - course.used > _LONG_AGO:
                continue
            if ends.have_changed():
                self._latest = course
                found.append((course, ends.where))
        return found or [(None, None)] * self._unknown

    def forget(self) -> None:
        """Updates have come in another way, or come no more."""
        self.expected = self.begun = False
        self.sample = None
