"""States that the program keeps, loads and puts back: what was seen of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from whygrad.source import Where

__all__ = ["Loaded", "Restored"]


@dataclass(eq=False, slots=True)
class Restored:
    """A state that was put back into a module, an optimizer or a schedule, or written to a file."""

    kind: str  # "module", "optimizer", "scheduler" or "file"
    thing: Any
    where: Where
    after: int  # how many passes there had been
    own: bool = False  # the state was the module's own memory: nothing was put back
    matched: int | None = None  # of a module: how many of its parameters the state has by name
    keys: tuple[str, ...] = ()  # of a state that has none of them: some of those it has
    initial: bool = False  # it was that of before the first pass, put back after others
    taken_at: Where | None = None  # where state_dict() had been called for it …
    taken: int | None = None  # … and after how many passes


@dataclass(eq=False, slots=True)
class Loaded:
    """A checkpoint that was read from a file."""

    where: Where
    after: int
    optimizers: tuple[str, ...]  # the keys of states of optimizers …
    schedulers: tuple[str, ...]  # … and of schedules
    keys: tuple[str, ...]  # all of them
