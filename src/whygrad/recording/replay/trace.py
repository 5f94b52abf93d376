"""What a replay saw: each call with its values, and the loss and gradients of the whole step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.recording.calls import Produced, RecordedCall
from whygrad.recording.engines import Engine
from whygrad.recording.ranges import Range
from whygrad.recording.record import Mark, Snapshot
from whygrad.source import Where

if TYPE_CHECKING:
    from whygrad.recording.replay.budget import Budget

__all__ = ["Trace", "Traced"]


@dataclass(eq=False)
class Traced:
    """One call of a replay: what went in, what came out, and the gradients of both."""

    number: int
    call: RecordedCall
    args: tuple[Any, ...]  # as they were carried out, tensors included
    kwargs: dict[str, Any]
    inputs: list[Any]  # the tensors among them
    kept: list[Any]  # what the recipe has for each: the call that made it, or the program's tensor
    outputs: list[Any]
    before: list[Range]  # of the inputs, before the call
    after: list[Range]  # of the outputs
    gradients: dict[int, Range] = field(default_factory=dict)  # of the outputs, by place

    @cached_property
    def sources(self) -> list[Produced | None]:
        """Which call made each of the inputs."""
        return [each if type(each) is Produced else None for each in self.kept]

    @property
    def op(self) -> str:
        return self.call.op

    @property
    def where(self) -> Where:
        return self.call.where

    @property
    def module(self) -> str | None:
        return self.call.module

    @property
    def spot(self) -> str:
        """Where it stands, in words: the line, and the layer where the line only leads to it."""
        line = f"line {self.where.line}"
        itself = not self.module or self.where.function.endswith("forward")
        return line if itself else f"{line}, in {self.module}"

    def argument(self, place: int, name: str, default: Any = None) -> Any:
        """An argument by its place or its name."""
        if name in self.kwargs:
            return self.kwargs[name]
        return self.args[place] if place < len(self.args) else default

    def __repr__(self) -> str:
        return f"<replayed {self.op} at {self.where}>"


@dataclass(eq=False)
class Trace:
    """A step that was run again."""

    snapshot: Snapshot
    calls: list[Traced]
    loss: float
    reproduced: bool  # whether the loss came out as the program saw it: see ``runner``
    parameters: dict[int, Any]  # the copies that were used, by id of the program's leaf
    gradients: dict[int, Any] = field(default_factory=dict)  # theirs, as arrays
    arrivals: list[tuple[int, int, Range]] = field(default_factory=list)  # call, place, gradient
    error: BaseException | None = None  # what stopped it
    budget: Budget | None = None  # what paid for it
    bytes: int = 0  # of all results

    @property
    def engine(self) -> Engine:
        return self.snapshot.engine

    def again(self, **how: Any) -> Trace:
        """The step once more, with something else: see :func:`.runner.replay`."""
        assert self.budget is not None
        return self.budget.replay(self.snapshot, **how)

    def made_by(self, source: Produced | None) -> Traced | None:
        """The call that a tensor came from."""
        return None if source is None else self.call(source.call)

    def call(self, number: int) -> Traced | None:
        """A call by its number; None if the replay did not get there."""
        return self._by_number.get(number)

    @cached_property
    def _by_number(self) -> dict[int, Traced]:
        return {each.number: each for each in self.calls}

    def consumers(self, source: Produced) -> list[Traced]:
        """The calls that a result went into."""
        return [each for each in self.calls if source in each.sources]

    def descends(self, later: Traced, earlier: Traced) -> bool:
        """Whether ``later`` was computed from ``earlier``."""
        return earlier.number == later.number or earlier.number in self.ancestors(later)

    def ancestors(self, call: Traced) -> set[int]:
        """The numbers of all calls that ``call`` was computed from."""
        seen: set[int] = set()
        waiting = [source for source in call.sources if source is not None]
        while waiting:
            source = waiting.pop()
            made = self.made_by(source)
            if made is not None and made.number not in seen:
                seen.add(made.number)
                waiting.extend(each for each in made.sources if each is not None)
        return seen

    @property
    def root(self) -> Traced | None:
        """The call that made the loss."""
        return self.made_by(self.snapshot.loss)

    def value(self, encoded: Any) -> Any:
        """The replayed tensor for an argument as a tape keeps it (of a Mark, for example)."""
        if isinstance(encoded, Produced):
            made = self.made_by(encoded)
            known = made is not None and encoded.place < len(made.outputs)
            return made.outputs[encoded.place] if made is not None and known else None
        return encoded

    def array(self, tensor: Any) -> np.ndarray[Any, Any]:
        return self.engine.view(tensor)

    def marks(self) -> Iterator[Mark]:
        yield from self.snapshot.marks
