"""A finished walk in words: events, and the way from the loss with what survives each op."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from whygrad.ops.families import SOFTMAXES
from whygrad.source import Where
from whygrad.why.answer import Section, place
from whygrad.why.names import shortened
from whygrad.why.zero.causes import BlockedEdge, Verdict, number, share, verdict
from whygrad.why.zero.walk import Event, Passage, ZeroWalk, smallest

__all__ = [
    "WIDTH", "ZeroReport", "all_told", "cancelled_fix", "evidence", "path", "sum_of", "verdict_on",
    "way_through", "where_of",
]  # fmt: skip

WIDTH = 76  # of a line in a section
_SHOWN = 12  # ops of a path
_EVENTS = 8


@dataclass(frozen=True)
class ZeroReport:
    """A finished walk, and how to speak about it."""

    x: str
    loss: str
    walk: ZeroWalk | None  # None if no path leads from the loss to x
    blocked: Callable[[Event | Passage], BlockedEdge]
    tolerance: float
    index: tuple[int, ...] | None = None
    notes: tuple[str, ...] = ()
    grad_may_be_none: bool = True  # the grad of a Value is a number from the start

    @property
    def question(self) -> str:
        asked = "" if self.index is None else f", index={_index(self.index)}"
        return f"why_zero({self.x}, {self.loss}{asked})"


def _index(index: tuple[int, ...]) -> str:
    return str(index[0]) if len(index) == 1 else str(index)


def verdict_on(report: ZeroReport, event: Event) -> Verdict:
    if event.reason == "derivative":
        return verdict(report.blocked(event))
    some = share(event.dead, event.total)
    if event.reason == "seed":
        return Verdict("zero incoming", f"the gradient that {report.loss} starts with is 0", None)
    if event.reason == "several":
        return Verdict("zero derivative", f"further ops let nothing through for {some}", None)
    op = "" if event.edge is None else event.edge.op
    if event.reason == "empty":
        return Verdict(
            "empty",
            f"what {op} returned has no elements, and the sum of no contributions is 0",
            "check for an empty batch or selection",
        )
    if event.reason == "underflow":
        dtype = report.blocked(event).dtype
        limit = f" (the smallest is {number(smallest(dtype))})" if dtype is not None else ""
        return Verdict(
            "underflow",
            f"what {op} sends back for {some} is too small for {dtype}{limit}: it is rounded to 0",
            "scale the loss up before backward() and the gradients down after it, or compute this "
            "part in a wider dtype",
        )
    if event.edge is not None:
        return Verdict(
            "cancelled", f"{op} adds up contributions that cancel for {some}", cancelled_fix(op)
        )
    return Verdict("cancelled", f"contributions cancel: {sum_of(event)}", cancelled_fix(""))


def cancelled_fix(op: str) -> str:
    if op in SOFTMAXES:
        return (
            "the outputs of softmax always add up to 1: a loss that treats them all alike cannot "
            "change its input"
        )
    return "if both terms are meant to be there, nothing is wrong: the loss does not depend on it"


def sum_of(event: Event) -> str:
    told = [f"{_signed(each.value)} from {each.op}{_line(each.where)}" for each in event.terms[:3]]
    rest = len(event.terms) - len(told)
    return " and ".join(told) + (f" and {rest} more" if rest else "")


def _signed(value: float) -> str:
    return number(value) if value < 0 else f"+{number(value)}"


def _line(where: Where | None) -> str:
    return "" if where is None else f" (line {where.line})"


def all_told(report: ZeroReport, events: Sequence[Event]) -> tuple[str, ...]:
    """Several events in a section; the same line of a loop is told once."""
    told = Counter(_told(report, event) for event in events)
    lines: list[str] = []
    for (sentence, *places), times in told.most_common(_EVENTS):
        lines += [sentence if times == 1 else f"{times} times: {sentence}", *places]
    rest = len(told) - _EVENTS
    return (*lines, f"and {rest} more") if rest > 0 else tuple(lines)


def _told(report: ZeroReport, event: Event) -> tuple[str, ...]:
    """An event in a section: the sentence, and its lines."""
    lines = [verdict_on(report, event).sentence]
    if event.edge is not None and event.edge.where is not None:
        lines.append(shortened(f"  at {event.edge.where}", WIDTH))
    lines += [
        shortened(f"  {_signed(each.value)} from {each.op} at {each.where}", WIDTH)
        for each in event.terms
    ]
    return tuple(lines)


def where_of(event: Event) -> Where | None:
    if event.edge is not None:
        return event.edge.where
    return next((term.where for term in event.terms if term.where is not None), None)


def evidence(event: Event, cause: str) -> dict[str, Any]:
    return {
        "cause": cause,
        "op": None if event.edge is None else event.edge.op,
        "where": place(where_of(event)),
        "dead": event.dead,
        "of": event.total,
        "killed": event.killed,
        "terms": [
            {"op": term.op, "where": place(term.where), "value": term.value} for term in event.terms
        ],
    }


def way_through(walk: ZeroWalk, through: Event | None) -> list[Passage]:
    """One path from the loss to the target: along an event's zeros, else along the strongest."""
    way: list[Passage] = []
    node = walk.target[0]
    while node in walk.passages:
        passages = walk.passages[node]
        marked = [each for each in passages if through in each.events]
        way.append(max(marked or passages, key=lambda each: each.peak))
        node = way[-1].edge.node
    return way[::-1]


def path(report: ZeroReport, walk: ZeroWalk, event: Event | None) -> Section:
    way = way_through(walk, event)
    half = _SHOWN // 2
    ends = [way] if len(way) <= _SHOWN else [way[:half], way[-half:]]
    rows = [
        [(each.edge.op, f"{each.alive} of {each.total}", _place(each.edge.where)) for each in part]
        for part in ends
    ]
    wide = [
        max((len(row[column]) for part in rows for row in part), default=0) for column in (0, 1)
    ]
    lines = [
        [
            shortened(f"{op:{wide[0]}}  {alive:>{wide[1]}}  {where}", WIDTH)
            for op, alive, where in part
        ]
        for part in rows
    ]
    return Section(
        f"from {report.loss} to {report.x}: elements that are not zero after each op",
        (*lines[0], f"… {len(way) - 2 * half} more ops", *lines[1])
        if len(lines) > 1
        else tuple(lines[0]),
    )


def _place(where: Where | None) -> str:
    return "" if where is None else str(where)
