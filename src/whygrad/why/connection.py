"""The facts about two tensors that ``why_none`` reasons from, whichever engine they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from whygrad.source import Where

__all__ = ["TO_LEAVE", "Connection", "Cut", "Departure", "Point", "Subject"]

# Who cuts this way and goes on to NumPy or Python wanted the latter.
TO_LEAVE = ("data", "detach")


@dataclass(frozen=True)
class Point:
    """One op on a path."""

    op: str
    where: Where | None = None

    def __str__(self) -> str:
        return self.op if self.where is None else f"{self.op:<12} {self.where}"


@dataclass(frozen=True)
class Subject:
    """A tensor as it was found when the question was asked."""

    name: str
    described: str  # "float32[3]"
    where: Where | None  # the line that made it (a leaf: that made it require grad)
    requires_grad: bool
    is_leaf: bool
    retains_grad: bool = False
    is_floating: bool = True
    has_gradient: bool = False
    norm: float | None = None  # of its gradient, if it has one


@dataclass(frozen=True)
class Cut:
    """A place where the value of x left the graph, on its way to the loss."""

    kind: str  # "detach", "no_grad", …: the words of whygrad.tensor.graph.lineage.DEED
    where: Where | None
    way_out: Sequence[Point] = ()  # in the graph, from x to what was cut off
    outside: Sequence[Point] = ()  # the cut, and what was computed with the value afterwards
    way_back: Sequence[Point] = ()  # from the loss back to the op that used the value
    unbroken: int | None = None  # points in a row outside any graph; None: all of them
    certain: bool = True  # False: the graph is gone, and x may or may not have been in it


@dataclass(frozen=True)
class Departure:
    """A value of x that was handed to Python or NumPy; nobody saw it come back."""

    kind: str  # "item" or "numpy"
    op: str
    where: Where | None
    way_out: Sequence[Point] = ()
    used_at: Where | None = None  # a line of the loss that the source code leads to


@dataclass(frozen=True)
class Connection:
    """How ``x`` and ``loss`` hang together."""

    x: Subject
    loss: Subject
    connected: bool  # whether a gradient of the loss can reach x
    x_is_younger: bool = False  # x came into the graph after the loss was computed
    cuts: Sequence[Cut] = ()
    departures: Sequence[Departure] = ()
    own_cut: Cut | None = None  # x itself is a constant because of this
    replaced: Subject | None = None  # the leaf that a variable held before x took its name
    walked_at: Where | None = None  # the backward pass that released the graph of the loss
    walked: bool | None = None  # whether one did, if the line is not known; None: nobody can tell
    own_rules: Sequence[str] = ()  # custom functions on the way, whose backward may return None
    forgotten: bool = False  # whether the history of a constant in the loss is too long to keep
    recorded: bool | None = None  # PyTorch: whether the loss was recorded; None: always, here
    loss_leaves: Sequence[str] = field(default_factory=tuple)  # what the loss does depend on
