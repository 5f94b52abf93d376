"""Who updates what: one course for each optimizer, and for the parameters of a loop by hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from whygrad.recording.record import Course, Optimizer, Parameter, Run
from whygrad.recording.watching.parameters import Registry
from whygrad.recording.watching.snapshots import Snapshots
from whygrad.source import Where

__all__ = ["Courses"]

# A course, its parameters that were written to, and the line of the first write.
Written = tuple[Course | None, list[Parameter], Where]

_BRIEF = 32  # updates of an optimizer that another takes the place of
_MOST = 16  # courses that are watched: a program may make a new optimizer at every step


class Courses:
    """The courses of one run."""

    def __init__(self, run: Run, registry: Registry, snapshots: Snapshots) -> None:
        self._run = run
        self._registry = registry
        self._snapshots = snapshots
        self.by_hand: list[Course] = []  # whose updates the program makes itself
        self.written: dict[int, Where] = {}  # parameters that it wrote to since the last pass …
        self._with_gradient: set[int] = set()  # … and that had a gradient then

    def of(self, optimizer: Any) -> Course | None:
        for course in self._run.courses:
            if course.optimizer.thing is optimizer:
                return course
        return None

    def begin(self, optimizer: Any, where: Where | None) -> Course | None:
        """The course of a new optimizer; None for one too many.

        One that takes the place of another goes on with the course of that.
        """
        known = self._replaced(optimizer, where)
        if known is not None:
            known.optimizer.thing = optimizer
            known.optimizer.remade += 1
            known.optimizer.began = len(known.steps)
            return known
        if len(self._run.courses) >= _MOST:
            self._run.crowded = True
            return None
        groups = optimizer.param_groups
        options = {name: value for name, value in groups[0].items() if name != "params"}
        course = self._new(optimizer, type(optimizer).__name__, where, options)
        for group in groups:
            for tensor in group["params"]:
                parameter = self._registry.parameter(tensor)
                if parameter.made_at is None:
                    origins = (log.origin(tensor) for log in self._snapshots.logs())
                    parameter.made_at = next((each.where for each in origins if each), None)
                _add(course, parameter)
        return course

    def _replaced(self, optimizer: Any, where: Where | None) -> Course | None:
        """The course of an optimizer that the same line made before, of the same parameters.

        After many updates, or with other values in the parameters, as in meta-learning, it is
        another training with a course of its own.
        """
        held = [id(tensor) for group in optimizer.param_groups for tensor in group["params"]]
        for course in self._run.courses:
            of = course.optimizer
            same = of.made_at is not None and of.made_at == where and of.thing is not optimizer
            brief = len(course.steps) - of.began < _BRIEF
            if not same or not brief or of.kind != type(optimizer).__name__ or of.thing is None:
                continue
            if held == [id(each.tensor) for each in course.parameters]:
                anew = any(each.rewritten_at for each in course.parameters)
                return None if anew else course
        return None

    def _new(
        self, optimizer: Any, kind: str, where: Where | None, options: dict[str, Any]
    ) -> Course:
        number = len(self._run.courses)
        course = Course(Optimizer(number, optimizer, kind, where, options))
        self._run.courses.append(course)
        return course

    def note_write(self, parameter: Parameter, where: Where) -> None:
        """The program writes to a parameter."""
        self.written.setdefault(id(parameter.tensor), where)
        if parameter.tensor.grad is not None:
            self._with_gradient.add(id(parameter.tensor))

    def forget_writes(self, loaded: Iterable[Any]) -> None:
        """Values that are loaded are no update, whatever gradients are there."""
        for tensor in loaded:
            self.written.pop(id(tensor), None)

    def updated_by_hand(self) -> list[Written]:
        """The courses of the parameters that were written to, None for one too many.

        What an optimizer has does not count: it is clamped or averaged, which is no update.  What
        has no gradient, where others have one, is updated from them: an average, a target.
        """
        optimized = {id(each.tensor) for course in self._run.courses for each in course.parameters
                     if course.optimizer.thing is not None}  # fmt: skip
        for name in optimized & set(self.written):
            del self.written[name]
        trained: dict[Parameter, Where] = {}
        others: dict[Parameter, Where] = {}
        for name, where in self.written.items():
            known = self._run.parameters.get(name)
            if known is not None:  # None: a leaf of long ago
                (trained if name in self._with_gradient else others)[known] = where
        first = next(iter(self.written.values()), None)
        self.written = {}
        self._with_gradient.clear()
        groups = [each for each in (trained, others) if each]
        if not groups and first is not None:
            return [(None, [], first)]
        return [self._updated(list(each), next(iter(each.values()))) for each in groups]

    def _updated(self, written: list[Parameter], where: Where) -> Written:
        course = self._hand_course(written, where)
        for each in written:
            if course is not None and each not in course.parameters:
                _add(course, each)
        return course, written, where

    def _hand_course(self, written: list[Parameter], where: Where) -> Course | None:
        """The course that these parameters belong to; those of another loop begin one."""
        for course in self.by_hand:
            if any(each in course.parameters for each in written):
                return course
        if len(self._run.courses) >= _MOST:
            return None
        self.by_hand.append(self._new(None, "by hand", where, {}))
        return self.by_hand[-1]


def _add(course: Course, parameter: Parameter) -> None:
    course.parameters.append(parameter)
    parameter.optimizers.append(course.optimizer.number)
