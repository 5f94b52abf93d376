"""What was found: the op that made a number that is not finite, and where it has spread.

A :class:`Finding` is a small copy of the evidence and holds no tensor, so noting one keeps no
memory alive.  Where it spread is known per array: :func:`trail_of` an array gives the findings
its numbers come from.  Ops that only pass NaN on hand over the trail of their inputs; there are
no chains to follow later, however long the program.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from whygrad.autograd.anomaly_mode.contents import Prints, owner
from whygrad.autograd.anomaly_mode.finite import Trouble
from whygrad.source import Calls, Where

if TYPE_CHECKING:
    from whygrad.ops.define import Op
    from whygrad.tensor.graph.node import Node

__all__ = [
    "During",
    "Element",
    "Finding",
    "Memo",
    "Trail",
    "mark",
    "merged",
    "trail_of",
    "unmark",
    "user_calls",
]

SHOWN = 3  # elements that a finding describes


def user_calls(calls: Calls) -> list[Where]:
    """Outermost first, without the libraries in between (test runners, training frameworks)."""
    places = [Where(*call) for call in reversed(calls)]
    return [
        each for each in places if "site-packages" not in each.file and "<frozen" not in each.file
    ]


class During(NamedTuple):
    """The reverse rule that was running when a value was computed (``create_graph=True``)."""

    name: str
    where: Where
    outer: During | None


class Memo:
    """What anomaly mode remembers of a recorded call, kept by its node."""

    __slots__ = ("calls", "during", "prints")

    def __init__(
        self,
        calls: Calls,
        during: During | None,
        prints: Prints,
    ) -> None:
        self.calls = calls
        self.during = during
        self.prints = prints


@dataclass(frozen=True)
class Element:
    """One number that is not finite, and the numbers it was made of."""

    index: tuple[int, ...]
    value: float
    inputs: dict[str, float]  # by name; in backward these are the saved values
    incoming: float | None = None  # backward only
    slope: float | None = None  # backward of elementwise ops: the local derivative


@dataclass(frozen=True, eq=False)
class Finding:
    """One place where numbers stopped being finite."""

    op: Op | None  # None if the numbers came from outside
    kind: Trouble
    dtype: Any
    shape: tuple[int, ...]
    count: int
    elements: tuple[Element, ...]
    where: Where | None
    calls: Calls = field(default_factory=list)
    during: During | None = None
    call: str = ""  # forward only: the call with its shapes
    backward: bool = False
    position: int = 0  # backward only: which gradient of the node
    writer: str | None = None  # from outside: the in-place op that wrote it, if one did
    selection: Any = None  # backward only: what threw the forward value away
    fed: Trouble | None = None  # the worst among what went in
    overflowed: bool = False  # backward only: by rounding to the dtype, or by undoing a broadcast
    summed: bool = False  # backward only: by adding the contributions of several uses
    node_reference: weakref.ref[Node] | None = None

    @property
    def made(self) -> bool:
        """Whether an op of the program computed it; otherwise somebody wrote it on purpose."""
        return self.op is not None

    @property
    def name(self) -> str:
        """``sqrt``, or ``SqrtBackward`` on the way back."""
        if self.op is None:
            return self.writer or "a given tensor"
        return self.op.node_name if self.backward else self.op.name

    @property
    def stack(self) -> list[Where]:
        """The calls that led there, outermost first."""
        return user_calls(self.calls)

    @property
    def node(self) -> Node | None:
        """The recorded call, while its graph is alive."""
        return None if self.node_reference is None else self.node_reference()


class Trail(NamedTuple):
    """Where the numbers of an array that are not finite come from."""

    kind: Trouble
    culprits: tuple[Finding, ...]
    turned: Finding | None = None  # where the culprits' inf became nan, or their nan came back
    selection: Any = None  # what threw the culprits' values away


def merged(trails: Sequence[Trail], kind: Trouble, turned: Finding | None = None) -> Trail:
    """The trail of something computed from all of these."""
    worst = [each for each in trails if each.kind == kind] or trails
    culprits = dict.fromkeys(finding for trail in worst for finding in trail.culprits)
    ordered = sorted(culprits, key=lambda finding: not finding.made)
    return Trail(
        kind,
        tuple(ordered[:SHOWN]),
        turned or next((each.turned for each in worst if each.turned), None),
    )


_trails: dict[int, tuple[weakref.ref[Any], Trail]] = {}


def mark(array: Any, trail: Trail) -> None:
    """Remember for as long as the memory lives where its numbers come from."""
    memory = owner(array)
    key = id(memory)
    _trails[key] = weakref.ref(memory, lambda _: _trails.pop(key, None)), trail


def unmark(array: Any) -> None:
    """Forget it again."""
    _trails.pop(id(owner(array)), None)


def trail_of(array: Any) -> Trail | None:
    if type(array) is not np.ndarray:
        return None
    memory = owner(array)
    reference, trail = _trails.get(id(memory), (None, None))
    return trail if reference is not None and reference() is memory else None
