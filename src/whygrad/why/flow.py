"""A backward pass written down: values, the ops that made them, and what went along each edge.

Each engine fills in a :class:`Flow` (``Value``, ``Tensor``, PyTorch's graph); tables, paths, HTML
and drawings read nothing else.  Four states of a gradient stay apart: a number, zero, None for
"not computed", and no edge at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from whygrad.source import Where

__all__ = ["Box", "Edge", "Flow"]


@dataclass(eq=False, slots=True)
class Box:
    """One value of the program and the op that made it."""

    name: str  # the user's label, the variable, or the expression that made it
    op: str | None  # None: a leaf or a constant
    where: Where | None  # the user's line; None if nobody knows
    order: int  # by creation: an input has a smaller one than what is computed from it
    shape: tuple[int, ...] = ()
    dtype: str = "float"
    value: Any = None  # a float or an array; None if it was not kept
    gradient: Any = None  # complete, as backward would leave it; None: not computed
    inputs: list[Edge] = field(default_factory=list)  # in argument order, with repetition
    consumers: list[Edge] = field(default_factory=list)

    @property
    def is_scalar(self) -> bool:
        """Whether it is one number (of any rank)."""
        return all(size == 1 for size in self.shape)


@dataclass(eq=False, slots=True)
class Edge:
    """One use of a value as an argument, and the gradient that came back for it."""

    consumer: Box
    source: Box
    position: int  # which argument of the consumer
    argument: str = ""  # its name in the op's signature
    contribution: Any = None  # what the consumer sent back; None: not computed
    slope: float | None = None  # d consumer / d source, where both are single numbers
    summed: tuple[int, ...] = ()  # axes that broadcasting had added or stretched, summed over
    stretched: tuple[int, ...] = ()  # the shape before that sum; () if there was none

    def link(self) -> Edge:
        """Enter the edge at both of its ends."""
        self.consumer.inputs.append(self)
        self.source.consumers.append(self)
        return self


@dataclass(eq=False, slots=True)
class Flow:
    """A backward pass from ``root``; ``boxes`` oldest first, so inputs precede what uses them."""

    engine: str  # "value", "tensor" or "torch"
    root: Box
    boxes: list[Box]
    target: Box | None = None  # what the explanation is about
