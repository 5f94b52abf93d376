"""The log of a program's calls into an engine: which, on what, from which line.

A call keeps tensors that came from elsewhere (the batch, parameters, targets) and points by number
at those that an earlier call of the same step made.  So the log costs a few microseconds a call and
no activation memory, and a step that went bad can be run again from it, call by call, with a look
at every value.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from types import CodeType, FrameType
from typing import Any, NamedTuple

from whygrad.ops.families import DETACHES, SETITEM, VIEWS
from whygrad.source import Where

__all__ = ["CallLog", "Origin", "Produced", "RecordedCall", "mapped", "members"]


_NESTED = (tuple, list, dict)
_LEARNED = 64  # of what went into a value without gradients


class Produced(NamedTuple):
    """An argument that an earlier call made: its number and the place among the results."""

    call: int
    place: int


class Origin(NamedTuple):
    """Where a tensor that outlived its step came from."""

    op: str
    code: CodeType
    instruction: int
    evaluation: Any = None  # the Mark of a call without gradients that it was computed from …
    steps: tuple[str, ...] = ()  # … and the ops since then
    # What has a history and went into it all the same: results by their calls, leaves by their ids.
    learned: tuple[Any, ...] = ()

    @property
    def where(self) -> Where:
        return Where(self.code, self.instruction)


class RecordedCall:
    """One call into the engine."""

    __slots__ = (
        "args", "code", "function", "instruction", "kwargs", "module", "number", "op", "random",
        "recorded",
    )  # fmt: skip

    def __init__(
        self,
        op: str,
        function: Callable[..., Any],
        args: Any,
        kwargs: Any,
        frame: FrameType,
        module: str | None,
        random: Any,
        recorded: bool,
    ) -> None:
        self.op = op
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.code = frame.f_code
        self.instruction = frame.f_lasti
        self.module = module  # the path of the module in whose forward it was made
        self.random = random  # the state of the generator before the call, for ops that draw
        self.recorded = recorded  # whether gradients were being recorded
        self.number = -1  # its place in the log

    @property
    def where(self) -> Where:
        return Where(self.code, self.instruction)

    @property
    def writes(self) -> bool:
        """Whether it changed its first argument."""
        return self.op in SETITEM or (self.op.endswith("_") and not self.op.endswith("__"))

    def sources(self) -> Iterator[Produced]:
        """The arguments that earlier calls made."""
        for each in members([self.args, self.kwargs]):
            if type(each) is Produced:
                yield each

    def with_arguments(self, function: Callable[[Any], Any]) -> RecordedCall:
        """The same call with ``function`` of each of its arguments."""
        changed = copy(self)
        changed.args = mapped(function, self.args)
        changed.kwargs = mapped(function, self.kwargs)
        return changed

    def __repr__(self) -> str:
        return f"<{self.op} at {self.where}>"


def members(value: Any) -> Iterator[Any]:
    """What is in arguments, however deep in lists and dictionaries."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, (list, tuple)) and type(each) is not Produced:
            waiting.extend(each)
        elif isinstance(each, dict):
            waiting.extend(each.values())
        else:
            yield each


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """Arguments with ``function`` of each in its place."""
    kind = type(value)
    if kind is tuple or kind is list:
        return kind([mapped(function, each) for each in value])
    if kind is dict:
        return {key: mapped(function, each) for key, each in value.items()}
    return function(value)


class CallLog:
    """The calls of the latest steps."""

    def __init__(self, tensor_type: type, limit: int = 50_000) -> None:
        self._tensor = tensor_type
        self._limit = limit
        self.calls: list[RecordedCall] = []
        self.first = 0  # the number of calls[0]
        self._given: set[int] = set()  # ids of the tensors from elsewhere that calls were given
        self._made: dict[int, tuple[weakref.ref[Any], Produced]] = {}
        self.switched: set[Produced] = set()  # results on which requires_grad_() was called
        self._origins: dict[int, tuple[weakref.ref[Any], Origin]] = {}

    def __len__(self) -> int:
        return len(self.calls)

    @property
    def end(self) -> int:
        """The number that the next call will have."""
        return self.first + len(self.calls)

    def call(self, number: int) -> RecordedCall | None:
        """A call by its number; None if it is no longer known."""
        place = number - self.first
        return self.calls[place] if 0 <= place < len(self.calls) else None

    def encode(self, value: Any) -> Any:
        """Arguments as a call keeps them."""
        return mapped(lambda each: self.source(each) or each, value)

    def take(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], int]:
        """The arguments of a call as it keeps them, and how many of them are, or hold, tensors.

        What :meth:`encode` does, for every call of the program: hence in one loop.
        """
        kept, tensors, made = [], 0, self._made
        for value in args:
            if isinstance(value, self._tensor):
                tensors += 1
                entry = made.get(id(value))
                if entry is not None and entry[0]() is value:
                    value = entry[1]
            elif type(value) in _NESTED:
                tensors += any(isinstance(each, self._tensor) for each in members(value))
                value = self.encode(value)
            kept.append(value)
        return tuple(kept), tensors

    def take_named(self, kwargs: dict[str, Any]) -> tuple[dict[str, Any], int]:
        """Like :meth:`take`, for arguments by name."""
        kept, tensors = self.take(tuple(kwargs.values()))
        return dict(zip(kwargs, kept)), tensors

    def add(self, call: RecordedCall, result: Any) -> None:
        """Enter a call that was carried out."""
        if len(self.calls) >= self._limit:
            self.forget(self.end)
        call.number = number = self.end
        self.calls.append(call)
        self._given.update(id(each) for each in call.args if isinstance(each, self._tensor))
        self.remember(result, number)

    def remember(self, result: Any, number: int) -> None:
        """From now on the tensors in ``result`` are those that call ``number`` made."""
        if isinstance(result, self._tensor):
            self._made[id(result)] = weakref.ref(result), Produced(number, 0)
        elif isinstance(result, (tuple, list)):
            call = self.call(number)
            given = () if call is None else call.args
            for place, each in enumerate(result):
                # broadcast_tensors() hands on what has the shape already: nobody made that.
                if isinstance(each, self._tensor) and not any(each is one for one in given):
                    self._made[id(each)] = weakref.ref(each), Produced(number, place)

    def uses(self, tensor: Any) -> bool:
        """Whether a call of this log was given ``tensor``, which comes from elsewhere."""
        return id(tensor) in self._given

    def replace(self, tensor: Any, copied: Any, latest: int = 2000) -> None:
        """``tensor`` is about to be overwritten: the calls that used it keep a copy as it was."""
        if not self.uses(tensor):
            return
        for call in self.calls[-latest:]:
            if any(each is tensor for each in call.args):
                call.args = type(call.args)(
                    [copied if each is tensor else each for each in call.args]
                )

    def source(self, tensor: Any) -> Produced | None:
        """Which call of this log made ``tensor``."""
        entry = self._made.get(id(tensor))
        return None if entry is None or entry[0]() is not tensor else entry[1]

    def release(self, tensor: Any) -> None:
        """``tensor`` begins a life of its own: later calls are given it, not the call behind it."""
        origin = self.origin(tensor)
        if self._made.pop(id(tensor), None) is not None and origin is not None:
            self.set_origin(tensor, origin)

    def settle(self, since: int) -> None:
        """An update is done: what was cut off from its history before is from elsewhere now.

        A state that goes from batch to batch would lead back through all of them.
        """
        recent = self.calls[max(0, since - self.first) :]
        cut = {call.number for call in recent if call.op in DETACHES}
        if not cut:
            return
        held = [reference() for reference, source in self._made.values() if source.call in cut]
        for tensor in held:
            if tensor is not None:
                self.release(tensor)

    def origin(self, tensor: Any) -> Origin | None:
        """Where ``tensor`` was made, in this step or earlier."""
        source = self.source(tensor)
        if source is not None:
            call = self.call(source.call)
            return None if call is None else Origin(call.op, call.code, call.instruction)
        entry = self._origins.get(id(tensor))
        return None if entry is None or entry[0]() is not tensor else entry[1]

    def bystanders(self) -> Iterator[Any]:
        """Tensors that no recorded call made and that are still there, the latest first."""
        for reference, _ in reversed(list(self._origins.values())):
            tensor = reference()
            if tensor is not None:
                yield tensor

    def set_origin(self, tensor: Any, origin: Origin) -> None:
        """Say where a tensor comes from that no call of the log made."""
        self._origins[id(tensor)] = weakref.ref(tensor), origin

    def set_evaluation(self, result: Any, mark: Any) -> None:
        """The tensors in ``result`` came out of a model that was called without gradients."""
        for each in result if isinstance(result, (tuple, list)) else (result,):
            known = self._origins.get(id(each))
            if known is not None and known[0]() is each:
                self._origins[id(each)] = known[0], known[1]._replace(evaluation=mark)

    def evaluation(self, args: Iterable[Any]) -> Any:
        """The call without gradients that an argument was computed from, if any was."""
        found = self.evaluated(args)
        return None if found is None else found.evaluation

    def evaluated(self, args: Iterable[Any]) -> Origin | None:
        """The origin of the first argument that was computed from such a call."""
        for each in args:
            known = self._origins.get(id(each))
            if known is not None and known[1].evaluation is not None and known[0]() is each:
                return known[1]
            if type(each) in (list, tuple) and each:
                inside = self.evaluated(each)
                if inside is not None:
                    return inside
        return None

    def learned(self, args: Iterable[Any]) -> tuple[Any, ...]:
        """What has a history among the arguments of a call without gradients, or went into them."""
        found: dict[Any, None] = {}
        for each in args:
            if type(each) in (list, tuple):
                found |= dict.fromkeys(self.learned(each))
            elif isinstance(each, self._tensor):
                known = self._origins.get(id(each))
                if each.requires_grad:  # type: ignore[attr-defined]
                    base = getattr(each, "_base", None)  # of a view that was taken in between
                    found[self.source(each) or self.source(base) or id(each)] = None
                elif known is not None and known[0]() is each:
                    found |= dict.fromkeys(known[1].learned)
        return tuple(found)[:_LEARNED]

    def note_training(self, calls: Iterable[RecordedCall]) -> None:
        """These calls belong to a training pass: so does what was evaluated to prepare them."""
        for call in calls:
            mark = self.evaluation((*call.args, *call.kwargs.values()))
            if mark is not None:
                mark.trains = True

    def forget(self, before: int) -> None:
        """Drop the calls before a number; of what they made and is still there, keep the origin."""
        for name, (reference, source) in list(self._made.items()):
            tensor = reference()
            if tensor is None:
                del self._made[name]
            elif source.call < before:
                call = self.call(source.call)
                if call is not None:
                    origin = Origin(call.op, call.code, call.instruction)
                    self._origins[name] = reference, origin
                del self._made[name]
        if len(self._origins) > 4 * self._limit // 10:
            self._origins = {
                name: entry for name, entry in self._origins.items() if entry[0]() is not None
            }
        self.switched = {each for each in self.switched if each.call >= before}
        del self.calls[: before - self.first]
        kept = (each for call in self.calls for each in call.args)
        self._given = {id(each) for each in kept if isinstance(each, self._tensor)}
        self.first = before

    def slice(self, roots: list[Produced]) -> dict[int, RecordedCall]:
        """The calls that ``roots`` were computed with, by number, in order."""
        needed: set[int] = set()
        waiting = [root.call for root in roots]
        while waiting:
            number = waiting.pop()
            call = self.call(number)
            if number not in needed and call is not None:
                needed.add(number)
                waiting.extend(source.call for source in call.sources())
            if not waiting:
                waiting = self._writers(needed)
        return {number: self.calls[number - self.first] for number in sorted(needed)}

    def _writers(self, needed: set[int]) -> list[int]:
        """Calls that write into what a needed call made, perhaps through a view of it.

        In one walk: data that were filled element by element are a chain of as many writes.
        """
        end = max(needed, default=self.first)
        found: list[int] = []
        shares: list[bool] = []  # whether a result is memory of what a needed call made
        for number, call in enumerate(self.calls[: end - self.first], self.first):
            target = call.args[0] if call.args else None
            into = (
                type(target) is Produced
                and self.first <= target.call < number
                and (target.call in needed or shares[target.call - self.first])
            )
            writes = call.writes
            shares.append(into and (writes or call.op in VIEWS))
            if not writes or number in needed:
                continue
            if into or any(source.call in needed for source in call.sources()):
                found.append(number)
        return found
