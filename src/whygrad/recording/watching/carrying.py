"""A call of the program is carried out, and once; what fails only because it is watched is not.

A call that raises is tried again as if nobody watched.  If it succeeds then, it was the watch that
was in its way: the program gets its answer, and the watch is over.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any

from whygrad.recording.engines import Engine
from whygrad.recording.record import Failure, Run, Stop
from whygrad.recording.scope import Scope
from whygrad.recording.watching.modules import Modules
from whygrad.recording.watching.sampler import Sampler
from whygrad.source import Where, in_program

__all__ = ["Carrying"]


class Carrying:
    """Carries calls out, and says in the record of the run which one ended it, or the watch."""

    def __init__(self, scope: Scope, run: Run, sampler: Sampler, modules: Modules) -> None:
        self._scope = scope
        self._run = run
        self._sampler = sampler
        self._modules = modules

    def out(
        self,
        engine: Engine,
        op: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        frame: FrameType,
    ) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            where, path = Where(frame.f_code, frame.f_lasti), self._modules.path or None
            answers = self._without_us(engine, op, function, args, kwargs, error)
            if not answers:
                if not self._sampler.optimizing:
                    self._run.failure = Failure(op, args, kwargs, where, path, error)
                raise
            self._run.stopped = Stop(op, where, f"{type(error).__name__}: {error}")
            self._scope.close()
            engine.first_passes_over()
            return answers[0]

    def _without_us(
        self,
        engine: Engine,
        op: str,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        error: Exception,
    ) -> tuple[Any, ...]:
        """The answer of a call that failed, when nobody watches; empty if it fails then as well.

        What runs code of the program's is not run twice, and random numbers are what they were.
        """
        again = engine.repeatable(op, function, args, kwargs)
        if again is None or _ran_the_program(error):
            return ()
        random = engine.random_state()
        try:
            with self._scope.paused():
                return (again(*args, **kwargs),)
        except Exception:
            engine.set_random_state(random)
            return ()


def _ran_the_program(error: Exception) -> bool:
    """Whether an exception came out of the program's own code: a hook, a Function, a handler."""
    place = error.__traceback__
    while place is not None:
        if in_program(place.tb_frame.f_code.co_filename):
            return True
        place = place.tb_next
    return False
