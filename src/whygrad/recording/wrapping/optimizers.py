"""Hears of updates, and keeps their arithmetic out of sight.

``step`` of every class of optimizers that is met is wrapped; the engines' own hooks tell of updates
that come by another way.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from whygrad.recording.engines import Engine
from whygrad.recording.replay.optimizers import is_copy
from whygrad.recording.watching.observer import Observer
from whygrad.source import program_line

__all__ = ["Steps"]


class Steps:
    """The updates of one engine's optimizers."""

    def __init__(self, engine: Engine, observer: Observer, wrap: Callable[..., Any]) -> None:
        self._engine = engine
        self._observer = observer
        self._loop = observer.loop
        self._wrap = wrap
        self._inside = 0  # calls of step() that are wrapped
        self._open: list[Any] = []  # optimizers whose update has begun
        self._met: set[type] = set()

    def meet(self, optimizer: Any) -> None:
        kind = type(optimizer)
        if kind not in self._met:
            self._met.add(kind)
            self._wrap(kind, "step", self._step)

    def hook(self, stack: ExitStack) -> None:
        home: Any = importlib.import_module(f"{self._engine.name}.optim.optimizer")
        stack.callback(home.register_optimizer_step_pre_hook(self._before).remove)
        stack.callback(home.register_optimizer_step_post_hook(self._after).remove)

    def _step(self, inner: Callable[..., Any], optimizer: Any, /, *args: Any, **kwargs: Any) -> Any:
        observer, engine = self._observer, self._engine
        if optimizer in self._loop.updating:  # by way of super().step()
            return inner(optimizer, *args, **kwargs)
        if not self._inside:
            self._open.clear()
        if observer.sampler.idle and not args and not kwargs:
            if self._begins_idle(optimizer):
                try:
                    result = inner(optimizer)
                except BaseException:
                    self._loop.step_failed()
                    raise
                observer.tell(observer.idle.step_ends, engine, optimizer)
                return result
            observer.sampler.resume()
        if is_copy(optimizer):
            return inner(optimizer, *args, **kwargs)
        self._inside += 1
        try:
            if _closure(args, kwargs) is not None:
                result = inner(optimizer, *args, **kwargs)
            else:
                with engine.unwatched():
                    result = inner(optimizer, *args, **kwargs)
        except BaseException:
            self._loop.step_failed()
            raise
        finally:
            self._inside -= 1
        observer.tell(observer.sampler.between_steps)
        return result

    def _begins_idle(self, optimizer: Any) -> bool:
        observer, scope = self._observer, self._observer.scope
        thread, scope.thread = scope.thread, 0
        try:
            return observer.agrees(observer.idle.step_begins, self._engine, optimizer)
        finally:
            scope.thread = thread

    def _is_of_interest(self, optimizer: Any) -> bool:
        return self._observer.scope.here and not is_copy(optimizer)

    def _before(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if optimizer in self._loop.updating or not self._is_of_interest(optimizer):
            return
        nested = self._inside > 0 and optimizer in self._open
        self._open.append(optimizer)
        if nested:
            return
        self.meet(optimizer)  # from its next step on
        if not self._loop.updating:
            self._observer.sampler.resume()
        with self._engine.unwatched():
            self._observer.tell(self._loop.step_begins, self._engine, optimizer, program_line())
        if _closure(args[1:], kwargs) is not None:
            self._loop.closure_begins()

    def _after(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if optimizer in self._loop.updating or not self._is_of_interest(optimizer):
            return
        if self._open:
            self._open.pop()
        if optimizer in self._open:
            return
        with self._engine.unwatched():
            self._observer.tell(self._loop.step_ends, self._engine, optimizer)
        if not self._inside:
            self._observer.tell(self._observer.sampler.between_steps)


def _closure(args: Any, kwargs: Any) -> Any:
    return args[0] if args else kwargs.get("closure")
