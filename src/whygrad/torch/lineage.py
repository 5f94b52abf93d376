"""Which values of a recording come from a tensor: inside the graph, and beyond a cut.

One pass over the events in the order in which they happened.  Values computed from x with a
gradient to pass back are *inside*; values that come from x but behind a cut are *outside*.  A write
to memory reaches every tensor over that memory, and so does memory that went to NumPy and came
back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch

from whygrad.torch.calls import Event
from whygrad.torch.identity import Track

__all__ = ["Lineage", "Route", "nearest_cut"]

# Ops that leave nothing of what a tensor held.
_OVERWRITING = frozenset(
    ("bernoulli_", "cauchy_", "copy_", "exponential_", "fill_", "geometric_", "log_normal_",
     "normal_", "random_", "uniform_", "zero_")
)  # fmt: skip


class _Link(NamedTuple):
    """One event through which a value came from another."""

    event: Event | None  # None: a new tensor over the same memory, which nobody saw being made
    source: Track
    cut: str | None
    certain: bool


class Route(NamedTuple):
    """A way from x to a value behind a cut."""

    kind: str
    way_out: list[Event]  # from x to what was cut off
    cut: Event | None
    beyond: list[Event]  # after the cut
    certain: bool


class Lineage:
    """What came from ``x``."""

    def __init__(self, x: Track, events: Sequence[Event]) -> None:
        self.x = x
        self.inside: dict[Track, _Link | None] = {x: None}
        self.outside: dict[Track, list[_Link]] = {}
        self.departures: list[tuple[Event, Track]] = []  # and which value was handed out
        self._gradients: set[Track] = set()  # outside, and only as grad() without create_graph
        self._made: set[Track] = set()  # by an event: where it comes from is known
        self._inside_memory: dict[int, Track] = {}
        self._outside_memory: dict[int, Track] = {}
        self._overwritten: set[Track] = set()  # what was in them before is gone
        if x.memory is not None:
            self._inside_memory[x.memory] = x
        for event in events:
            self._follow(event)

    def _follow(self, event: Event) -> None:
        if event.op in _OVERWRITING:
            self._overwrite(event.written)
        sources = [(each, True) for each in event.inputs]
        sources += [(each, False) for each in event.guesses]
        for source, certain in sources:
            self._arrive_by_memory(source)
            if source in self.outside:
                self._pass_on(event, source, None, certain)
            if source in self.inside:
                self._pass_on(event, source, event.cuts, certain)
        self._made.update(event.outputs)

    def _overwrite(self, targets: Iterable[Track]) -> None:
        """Whatever came from x is in these tensors no more; in others over their memory it may."""
        for track in targets:
            self.outside.pop(track, None)
            self._overwritten.add(track)
            if track.memory is not None and self._outside_memory.get(track.memory) is track:
                del self._outside_memory[track.memory]

    def _pass_on(
        self, event: Event, source: Track, cuts: tuple[str | None, ...] | None, certain: bool
    ) -> None:
        if event.left is not None:
            self.departures.append((event, source))
        for place, output in enumerate(event.outputs):
            cut = None if cuts is None else cuts[place]
            if output is source and cut != "detach":  # a leaf stays what it is, whatever is written
                continue
            of_gradient = cut == "create_graph" or (cuts is None and source in self._gradients)
            if of_gradient and output in event.written and _is_leaf(output):
                continue  # an update: nobody asks about a loss by way of its gradient
            link = _Link(event, source, cut, certain)
            if of_gradient and output not in self.outside:
                self._gradients.add(output)
            elif not of_gradient:
                self._gradients.discard(output)
            if cuts is not None and cut is None and certain:
                self.inside.setdefault(output, link)
                memory = self._inside_memory
            else:
                self.outside.setdefault(output, []).append(link)
                memory = self._outside_memory
            if output in event.written:  # what shares its memory has new numbers, too
                self._overwritten = {
                    each for each in self._overwritten if each.memory != output.memory
                }
            if event.left == "numpy" and source.memory is not None:  # what NumPy has may come back
                self._outside_memory[source.memory] = output
            elif output.memory is not None:
                memory.setdefault(output.memory, output)

    def _arrive_by_memory(self, track: Track) -> None:
        """A value that no event made may look at memory that comes from x."""
        if track in self.inside or track in self.outside or track.memory is None:
            return
        if track in self._overwritten:
            return
        shared = self._outside_memory.get(track.memory)
        if shared is not None:
            self.outside[track] = [_Link(None, shared, None, True)]
            return
        shared = self._inside_memory.get(track.memory)
        if shared is not None:
            if track in self._made:  # a view that was there before the write
                self.inside[track] = _Link(None, shared, None, True)
            else:
                self.outside[track] = [_Link(None, shared, "shared", True)]

    def routes_to(self, end: Track) -> list[Route]:
        """The cuts between x and ``end``, those nearest to x first, one per line."""
        self._arrive_by_memory(end)
        found: dict[object, Route] = {}
        after: dict[Track, tuple[Track, _Link] | None] = {end: None}
        waiting = [end] if end in self.outside else []
        for track in waiting:  # grows while it is walked
            for link in self.outside[track]:
                if link.cut is None:
                    if link.source not in after:
                        after[link.source] = track, link
                        waiting.append(link.source)
                    continue
                route = self._route(link.cut, track, link, after)
                line = None if link.event is None else link.event.call
                found.setdefault((route.kind, line), route)
        return sorted(found.values(), key=lambda each: (not each.certain, _time(each.cut)))

    def _route(
        self, kind: str, track: Track, link: _Link, after: dict[Track, tuple[Track, _Link] | None]
    ) -> Route:
        beyond, certain = [], link.certain
        step = after[track]
        while step is not None:
            following, passed = step
            certain = certain and passed.certain
            if passed.event is not None:
                beyond.append(passed.event)
            step = after[following]
        return Route(kind, self.way_to(link.source), link.event, beyond, certain)

    def way_to(self, track: Track) -> list[Event]:
        """The events between x and a value inside."""
        way = []
        link = self.inside.get(track)
        while link is not None:
            if link.event is not None:
                way.append(link.event)
            link = self.inside.get(link.source)
        return way[::-1]


def _is_leaf(track: Track) -> bool:
    thing = track.thing
    return isinstance(thing, torch.Tensor) and thing.requires_grad and thing.is_leaf


def _time(event: Event | None) -> int:
    return 0 if event is None else event.time


def nearest_cut(track: Track, events: Iterable[Event]) -> tuple[str, list[Event]] | None:
    """What cut a constant off from the graph: the kind, and the events from the cut to it."""
    made: dict[Track, list[Event]] = {}
    for event in events:
        for output in event.outputs:
            made.setdefault(output, []).append(event)
    after: dict[Track, list[Event]] = {track: []}
    waiting = [track]
    for each in waiting:  # grows while it is walked
        for event in reversed(made.get(each, [])):
            way = [event, *after[each]]
            cut = event.cuts[event.outputs.index(each)]
            if cut is not None:
                return cut, way
            for source in event.inputs:
                if source not in after:
                    after[source] = way
                    waiting.append(source)
    return None
