"""The words of the walk: edges that can be asked, and what makes a gradient zero.

A :class:`Graph` runs nodes and hands out one :class:`WalkedEdge` per edge; each engine has its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from whygrad.source import Where

__all__ = [
    "Arrival",
    "Blame",
    "Event",
    "Graph",
    "Passage",
    "Reason",
    "Term",
    "WalkedEdge",
    "magnitude",
    "probe_like",
]  # fmt: skip

Reason = Literal["derivative", "underflow", "cancelled", "empty", "seed", "several"]


@dataclass(eq=False)
class WalkedEdge:
    """One edge of the graph while its node runs; engines override what they can answer."""

    node: Any
    source: Any
    slot: int  # which output of the source
    op: str
    argument: str  # the source's name in the op's signature
    where: Where | None
    incoming: list[Any]  # one per output of the node; None where nothing arrived
    contribution: Any  # in the shape of the source

    def pull(self, probes: list[Any]) -> Any:
        """What the rule makes of other incoming gradients; None if it must not be asked again."""
        return None

    def pull_opposite(self, probe: Any) -> Any:
        """The same before a broadcast is undone; None unless the op works on elements alone."""
        return None

    def reach(self, probes: list[Any]) -> Any:
        """Like ``pull`` as if no factor were 0; None if the op is not a product."""
        return None

    def wide(self) -> Any:
        """The contribution computed in float64; None if that cannot be had."""
        return None

    def saved(self) -> dict[str, Any]:
        """What the node kept, by name."""
        return {}

    def forget(self) -> None:
        """The edge has been walked: let go of the arrays."""
        self.incoming, self.contribution = [], None


class Graph(Protocol):
    """A recorded computation that can be walked backward."""

    def rank(self, node: Any) -> Any:
        """Younger nodes have smaller ones."""

    def outputs(self, node: Any) -> int:
        """How many results the node has."""

    def run(self, node: Any, incoming: list[Any]) -> Sequence[WalkedEdge]:
        """Run the rules of ``node`` for the edges that lead to the target."""


@dataclass(eq=False)
class Term:
    """One of several contributions that cancel, at one element."""

    op: str
    where: Where | None
    value: float


@dataclass(eq=False)
class Event:
    """Something that made elements of a gradient zero."""

    reason: Reason
    edge: WalkedEdge | None  # None where several contributions met, and for the seed
    mask: Any  # the elements at which nothing passes
    killed: int  # how many of them had something to pass
    terms: list[Term] = field(default_factory=list)

    @property
    def dead(self) -> int:
        return int(np.count_nonzero(self.mask))

    @property
    def total(self) -> int:
        return int(np.size(self.mask))


Blame = dict[Event, Any]  # which elements each event made zero


@dataclass(eq=False)
class Passage:
    """What is remembered of an edge that was walked."""

    edge: WalkedEdge
    alive: int  # elements of the contribution that are not zero
    total: int
    peak: float  # largest magnitude of the contribution
    strongest: float  # largest magnitude of what came in
    opposed: float  # relative to what signs that do not cancel would have given
    events: tuple[Event, ...]

    @property
    def factor(self) -> float:
        """By how much the gradient shrinks (or grows) here."""
        return self.peak / self.strongest if self.strongest else 0.0


@dataclass(eq=False)
class Arrival:
    """A contribution on its way, and why it is zero where it is."""

    contribution: Any
    blame: Blame
    op: str
    where: Where | None


def magnitude(array: Any) -> float:
    """The largest, without its sign."""
    return float(np.max(np.abs(array), initial=0))


def probe_like(like: Any) -> Any:
    """Numbers around 1 whose sums do not cancel, the same each time."""
    drawn = np.random.default_rng(0).uniform(0.5, 1.5, np.shape(like))
    return np.asarray(drawn, like.dtype)
