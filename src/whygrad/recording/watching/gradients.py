"""The gradients of a course: how large they are, and whether an update has used them before."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from whygrad.recording.engines import Engine
from whygrad.recording.record import Course, Parameter, Run
from whygrad.recording.sizes import Sizes, rms_of
from whygrad.recording.watching.sampler import Sampler

__all__ = ["Gradients", "not_finite"]

_MEASURED = 8  # passes between two measurements of all gradients, while they are skipped …
_SURVEYED = 16  # … and while idle …
_FEW = 512  # … when so many values are taken of each
_OTHER_END = 4  # updates between two looks at the other end of the network


class Gradients:
    """What is known of them, for all courses of a run."""

    def __init__(self, run: Run, sampler: Sampler) -> None:
        self._run = run
        self._sampler = sampler
        self._consumed: set[int] = set()  # courses whose gradients an update has used
        self.contaminated: set[int] = set()  # … and which were added to since
        self._ends: dict[int, list[Any]] = {}

    def sizes(self, engine: Engine, parameters: list[Parameter], most: int = 4096) -> Sizes:
        """The rms of each that there is, by the parameter's name."""
        found: dict[str, float | None] = {each.name: None for each in parameters}
        there = [each for each in parameters if each.tensor.grad is not None]
        sizes = rms_of(engine, [each.tensor.grad for each in there], most)
        found.update(zip([each.name for each in there], sizes))
        return Sizes(found)

    def of_update(self, engine: Engine, course: Course) -> Mapping[str, float | None]:
        """The sizes of an update's gradients; of a skipped one, those of a few passes ago.

        Whether they are finite is asked at both ends of the network, where trouble arrives.
        """
        latest = course.steps[-1].gradients if course.steps else None
        if self._sampler.skipping and latest and len(self._run.passes) % _MEASURED:
            ends = (course.parameters[0].tensor.grad, course.parameters[-1].tensor.grad)
            some = rms_of(engine, [each for each in ends if each is not None], most=64)
            if all(map(math.isfinite, some)):
                return latest
        return self.sizes(engine, course.parameters)

    def while_idle(self, engine: Engine, course: Course) -> Mapping[str, float | None] | None:
        """The same of an update while idle: mostly the latest ones; None if it needs a look."""
        number = len(self._run.passes)
        if number % _SURVEYED == 0:
            gradients = self.sizes(engine, course.parameters, _FEW)
            if not_finite(gradients):
                return None
            self.follow(number, gradients)
            return gradients
        # Where a pass ends trouble arrives.  Where that is a table of words most of its rows have
        # no gradient, so the other end has a say.
        ends = self._ends_of(course)
        for end in ends if number % _OTHER_END == 0 else ends[:1]:
            if end.grad is not None and not self._sampler.hint(number, engine.hint(end.grad)):
                return None
        return course.steps[-1].gradients

    def are_usual(self, engine: Engine, first: Any, last: Any) -> bool:
        """Whether these gradients, which are in no ``.grad``, need no look at all of them."""
        number = len(self._run.passes)
        end = first if number % _OTHER_END else last
        return number % _SURVEYED != 0 and self._sampler.hint(number, engine.hint(end))

    def follow(self, number: int, gradients: Mapping[str, float | None]) -> None:
        """Tell the sampler how large they are."""
        sizes = [each for each in gradients.values() if each is not None]
        self._sampler.gradient(number, max(sizes, default=0.0))

    def next_step(self) -> None:
        """The trained parameters may be others from now on."""
        self._ends.clear()

    def _ends_of(self, course: Course) -> list[Any]:
        """The first and the last parameter that are trained."""
        known = self._ends.get(course.optimizer.number)
        if known is None:
            trained = [each.tensor for each in course.parameters if each.requires_grad]
            first = trained[:1]
            shapes = [tuple(each.shape) for each in trained[:2]]
            if len(shapes) == 2 and len(shapes[0]) > 1 and shapes[1] == shapes[0][:1]:
                first = trained[1:2]  # the bias of the first weights: it is short
            known = self._ends[course.optimizer.number] = [*first, *trained[-1:]]
        return known

    def look_for_old(self, engine: Engine, course: Course) -> None:
        """Whether gradients that an update has used are still there to be added to."""
        number = course.optimizer.number
        if self._sampler.skipping:
            tensors = self._ends_of(course)[:1]
        else:
            tensors = [each.tensor for each in course.parameters]
        there = [each.grad for each in tensors if each.grad is not None]
        if there and (engine.array(there[0]).any() or engine.array(there[-1]).any()):
            if number in self._consumed:
                self.contaminated.add(number)
        else:
            self.contaminated.discard(number)
            self._consumed.discard(number)

    def used(self, course: Course) -> None:
        """An update of the course has used its gradients."""
        self._consumed.add(course.optimizer.number)
        self.contaminated.discard(course.optimizer.number)


def not_finite(gradients: Mapping[str, float | None]) -> bool:
    return any(each is not None and not math.isfinite(each) for each in gradients.values())
