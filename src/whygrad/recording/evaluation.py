"""How the program judges its model: what it compares, and what it gives to the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from whygrad.recording.ranges import Range
from whygrad.source import Calls, Where

__all__ = ["Comparison", "Fed", "Side"]


@dataclass(slots=True)
class Side:
    """One of the tensors of a :class:`Comparison`, or a plain number."""

    range: Range
    whole: float  # the fraction of values that are whole numbers …
    outside: float  # … and of those beyond 0 and 1
    steps: tuple[str, ...] | None  # the ops since the model's output; None: it is of no model


@dataclass(slots=True)
class Comparison:
    """A look at answers of a model that no gradient flows through: how a metric begins."""

    op: str
    where: Where
    after: int  # how many passes there had been
    sides: tuple[Side, ...]
    result: tuple[int, ...]  # the shape
    agreed: float = 0.0  # the fraction that is as asked; that is equal, if that was asked
    dim: int | None = None  # the axis that the largest was looked for along
    number: float | None = None  # what was compared with, if that is no tensor
    by: Where | None = None  # the line that called the function of this one


@dataclass(eq=False, slots=True)
class Fed:
    """What one line gives to a model, of some of its calls."""

    module: Any
    where: Where
    recorded: bool  # whether gradients were being recorded
    callers: Calls  # the lines that led there, innermost first
    calls: int = 0
    rows: dict[int, int] = field(default_factory=dict)  # marks of samples, and how often each
    ranges: list[Range] = field(default_factory=list)
    after: int = 0  # how many passes there had been, the last time …
    late: set[int] = field(default_factory=set)  # … and the samples that were new since then

    def before(self, passes: int) -> set[int]:
        """The samples that were there for the first so many passes, which may have used them."""
        return set(self.rows) - (self.late if self.after >= passes else set())
