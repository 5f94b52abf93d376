"""A program that ended with an exception: what raised, on what, and which layers led there.

The traceback has the frames as they were, so the layer and what it was given stand there also in
steps that nobody wrote down.  Of a step that was written down, the calls before the one that failed
are run again for the shapes on the way.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from functools import cached_property
from types import FrameType
from typing import Any

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.source.lines import name_assigned, raised
from whygrad.recording.calls import Produced, members
from whygrad.recording.record import Failure
from whygrad.recording.replay import Traced
from whygrad.source import Where, in_program

__all__ = ["Crash", "Stop", "crash_of", "is_module", "is_tensor", "led_to", "shape"]

_WAY = 12  # calls that are shown, the last ones


def is_tensor(value: Any) -> bool:
    return hasattr(value, "requires_grad") and hasattr(value, "is_leaf")


def is_module(value: Any) -> bool:
    return hasattr(type(value), "named_modules")


def shape(tensor: Any) -> list[int]:
    return [int(each) for each in tensor.shape]


def led_to(failure: Failure, error: BaseException) -> bool:
    """Whether the call that raised is why the program ended."""
    at: BaseException | None = error
    while at is not None:
        if at is failure.error:
            return True
        at = at.__cause__ or at.__context__
    return False


@dataclass(frozen=True)
class Stop:
    """One call on the way: whose, which, and the shape that came out."""

    name: str
    shape: list[int]
    call: Traced


class Crash:
    """The exception that ended a program."""

    def __init__(self, case: Case, error: BaseException) -> None:
        self.case = case
        self.error = error
        self.text = str(error)
        self.frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        self.lines = raised(error)  # of the program, outermost first

    @property
    def line(self) -> Where | None:
        """The innermost line of the program."""
        return self.lines[-1] if self.lines else None

    @cached_property
    def failure(self) -> Failure | None:
        """The call into the engine that raised."""
        known = self.case.run.failure
        return known if known is not None and led_to(known, self.error) else None

    @property
    def op(self) -> str:
        return "" if self.failure is None else self.failure.op

    @cached_property
    def _modules(self) -> list[tuple[Any, FrameType]]:
        """The modules that were running, outermost first, with their frames."""
        found = [(each.f_locals.get("self"), each) for each in self.frames]
        return [(module, frame) for module, frame in found if is_module(module)]

    @cached_property
    def layer(self) -> Any:
        """The innermost module that was running."""
        return self._modules[-1][0] if self._modules else None

    @cached_property
    def called(self) -> Where | None:
        """The line of the program that called the outermost module."""
        outer = next((frame for _, frame in self._modules), None)
        before = self.frames[: self.frames.index(outer)] if outer is not None else []
        codes = {id(each.f_code) for each in before}
        known = [each for each in self.lines if id(each.code) in codes]
        return known[-1] if known else None

    @cached_property
    def arguments(self) -> list[Any]:
        """What the call, or else the forward() of the layer, was given."""
        given = self.failure and [*self.failure.args, *self.failure.kwargs.values()]
        if given and any(map(is_tensor, members(given))):
            return given
        for module, frame in reversed(self._modules):
            code = frame.f_code
            if module is self.layer and code.co_name == "forward":
                return [frame.f_locals.get(each) for each in code.co_varnames[1 : code.co_argcount]]
        return given or []

    @cached_property
    def tensors(self) -> list[Any]:
        """The tensors among the arguments, in order."""
        return [each for each in [*members(self.arguments)][::-1] if is_tensor(each)]

    def name(self, module: Any) -> str:
        """The path of a module in its model, or what it is."""
        for root, whole, _ in self.case.run.roots:
            for path, each in whole.named_modules():
                if each is module:
                    return _named(path or root, module)
        return type(module).__name__

    def made_at(self, module: Any) -> Where | None:
        """The line that constructs a module, if it is the program's."""
        where = self.case.run.made.get(id(module))
        return where if where is not None and in_program(where.file) else None

    def origin(self, tensor: Any) -> Where | None:
        """The line of the program that made a tensor outside of the model."""
        snapshot = self.case.run.last_snapshot
        log = None if snapshot is None else snapshot.log
        known = None if log is None or log.source(tensor) else log.origin(tensor)
        if known is not None and in_program(known.where.file):
            return known.where
        line = self.called
        if line is None:
            return None
        frame = next(each for each in self.frames if each.f_code is line.code)
        names = [name for name, value in frame.f_locals.items() if value is tensor]
        return next(filter(None, (name_assigned(line, each) for each in names)), None)

    def is_data(self, tensor: Any) -> bool:
        """Whether nothing of the model has computed it."""
        return not tensor.requires_grad and not self.way(tensor)

    def way(self, tensor: Any) -> list[Stop]:
        """The calls that a tensor went through, from the first that is known."""
        snapshot = self.case.run.last_snapshot
        source = None if snapshot is None or snapshot.log is None else snapshot.log.source(tensor)
        trace = self.case.trace(snapshot) if source is not None else None
        found: list[Stop] = []
        at = None if trace is None else trace.made_by(source)
        while at is not None and trace is not None:
            found += [Stop(self._stop(at), list(at.after[0].shape), at)] if at.after else []
            main = next((each for each in at.sources if type(each) is Produced), None)
            at = trace.made_by(main)
        return found[::-1]

    def _stop(self, call: Traced) -> str:
        """The layer that made a call; the op, if that is a model with others inside."""
        module = self.case.module(call.module)
        if not call.module or module is None or next(module.children(), None) is not None:
            return call.op
        return _named(call.module, module)

    def told_way(self, tensor: Any) -> str | None:
        """``conv1 [32, 16, 26, 26] → max_pool2d [32, 16, 13, 13]``: where the shape changes."""
        way = self.way(tensor)
        pairs = zip(way, [None, *way])
        stops = [now for now, last in pairs if last is None or now.shape != last.shape]
        if not stops:
            return None
        first = stops[0].call.before
        start = f"{list(first[0].shape)} → " if first else ""
        if len(stops) > _WAY:
            start, stops = "… → ", stops[-_WAY:]
        return "on the way: " + start + " → ".join(f"{each.name} {each.shape}" for each in stops)


def _named(path: str, module: Any) -> str:
    """``fc1``; ``layers.3 (Linear)``, since a number says little."""
    is_number = path.rpartition(".")[2].isdigit()
    return f"{path} ({type(module).__name__})" if is_number else path


def crash_of(case: Case) -> Crash | None:
    """What ended the program, if that was an error of its own."""
    error = case.run.crash
    return Crash(case, error) if isinstance(error, Exception) else None
