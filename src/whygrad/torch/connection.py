"""What PyTorch's graph and a recording tell about two tensors, for ``why_none``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch.autograd.function import BackwardCFunction

from whygrad.source import Where
from whygrad.torch import ops
from whygrad.torch.calls import Event
from whygrad.torch.finite import described
from whygrad.torch.graph import event_of, is_leaf, leads_to, node_of, reachable, where_of
from whygrad.torch.identity import Track, identities
from whygrad.torch.lineage import Lineage, Route, nearest_cut
from whygrad.torch.names import TorchNames
from whygrad.torch.record import Recording
from whygrad.why.connection import (
    TO_LEAVE,
    Connection,
    Cut,
    Departure,
    Point,
    Subject,
)
from whygrad.why.dataflow import used_at
from whygrad.why.sources.connection import reassigned_name

__all__ = ["Inspection"]

_MANY = 8  # leaves and departures that a report lists


class Inspection:
    """One loss and what is known of its computation; asked about any number of tensors."""

    def __init__(self, loss: torch.Tensor, tape: Recording | None, names: TorchNames) -> None:
        self.names = names
        self.loss = loss
        self.tape = tape
        root = node_of(loss)
        self.graph = [] if root is None else reachable(root)
        self._nodes = set(self.graph)
        self.track = None if tape is None else self._found(tape)
        self.events = [] if tape is None else list(tape.events)
        self._made: dict[Track, Event] = {}  # by the event that made it first
        for event in self.events:
            for output in event.outputs:
                if output not in event.written:
                    self._made.setdefault(output, event)
        self.recorded = self.track is not None and self.track in self._made

    def _found(self, tape: Recording) -> Track | None:
        """The track of the loss, if the recording knows it or what it was computed from."""
        known = identities.known(self.loss) is not None
        return tape.track(self.loss) if known or any(map(event_of, self.graph)) else None

    def connection(self, x: torch.Tensor) -> Connection:
        """Everything that is known about how ``x`` and the loss hang together."""
        node = node_of(x)
        connected = node is not None and node in self._nodes
        track = identities.known(x)
        cuts: Sequence[Cut] = ()
        departures: Sequence[Departure] = ()
        if track is not None and self.track is not None and not connected and x.requires_grad:
            lineage = Lineage(track, self.events)
            cuts = [self._cut(each) for each in lineage.routes_to(self.track)]
            departures = self._departures(lineage)
        return Connection(
            x=self._subject(x),
            loss=self._subject(self.loss),
            connected=connected,
            x_is_younger=self._is_younger(x, track),
            cuts=cuts,
            departures=departures,
            own_cut=None if track is None or x.requires_grad else self._own_cut(track),
            replaced=self._replaced(x, track),
            walked_at=self._walked_at(),
            # A graph that is still there was not walked, or was with retain_graph=True.
            walked=True if any(ops.is_released(each) for each in self.graph) else None,
            own_rules=self._own_rules(x) if connected else (),
            recorded=self.recorded,
            loss_leaves=self._leaves(),
        )

    def _subject(self, tensor: torch.Tensor) -> Subject:
        gradient = tensor.grad if tensor.is_leaf or tensor.retains_grad else None
        norm = None
        if gradient is not None:
            norm = float(torch.linalg.vector_norm(gradient.detach().to_dense().double()))
        return Subject(
            name=self.names.of_torch(tensor),
            described=described(tensor),
            where=self._made_at(tensor),
            requires_grad=tensor.requires_grad,
            is_leaf=tensor.is_leaf,
            retains_grad=tensor.retains_grad,
            is_floating=tensor.is_floating_point() or tensor.is_complex(),
            has_gradient=gradient is not None,
            norm=norm,
        )

    def _made_at(self, tensor: torch.Tensor) -> Where | None:
        if tensor.grad_fn is not None:
            return where_of(tensor.grad_fn)
        track = identities.known(tensor)
        if track is None:
            return None
        if track.required_at is not None:
            return track.required_at[1]
        made = self._made.get(track)
        return None if made is None else made.call

    def _is_younger(self, x: torch.Tensor, track: Track | None) -> bool:
        """Whether x came into the graph after the loss was computed."""
        if track is None or self.track is None or self.track not in self._made:
            return False
        loss_at = self._made[self.track].time
        if x.is_leaf and track.required_at is not None:
            return track.required_at[0] > loss_at
        return track in self._made and self._made[track].time > loss_at

    def _walked_at(self) -> Where | None:
        """The backward pass that ran on this very loss, if it was recorded."""
        walks = () if self.tape is None else reversed(self.tape.walks)
        return next((call for track, call in walks if track is self.track), None)

    def _own_rules(self, x: torch.Tensor) -> list[str]:
        custom = [each for each in self.graph if isinstance(each, BackwardCFunction)]
        if not custom:
            return []
        edge = torch.autograd.graph.get_gradient_edge(x)
        on_the_way = leads_to(node_of(self.loss), (edge.node, edge.output_nr))
        return sorted({ops.op_name(each) for each in custom if each in on_the_way})

    def _leaves(self) -> list[str]:
        leaves = [node.variable for node in self.graph if is_leaf(node)]
        lines = []
        for leaf in leaves[:_MANY]:
            where = self._made_at(leaf)
            name = self.names.of_torch(leaf)
            lines.append(name if where is None else f"{name:<12} {where}")
        return lines if len(leaves) <= _MANY else [*lines, f"… {len(leaves) - _MANY} more"]

    def _cut(self, route: Route) -> Cut:
        chain = ([] if route.cut is None else [route.cut]) + route.beyond
        inside = next((at for at, each in enumerate(chain) if at and each.nodes), len(chain))
        outside = _points(chain[:inside])
        if route.kind == "no_grad" and route.cut is not None and route.cut.since is not None:
            outside.insert(0, Point("no_grad", route.cut.since))
        return Cut(
            kind=route.kind,
            where=None if route.cut is None else route.cut.call,
            way_out=_points(route.way_out) or [Point("leaf")],
            outside=outside,
            way_back=_points(reversed(chain[inside:])),
            certain=route.certain,
        )

    def _own_cut(self, track: Track) -> Cut | None:
        found = nearest_cut(track, self.events)
        if found is None:
            return None
        kind, way = found
        return Cut(kind, way[0].call, outside=_points(way))

    def _departures(self, lineage: Lineage) -> list[Departure]:
        """Lines that handed numbers computed from x to Python: those that matter first."""
        uses = dict.fromkeys(filter(None, map(event_of, self.graph)))
        first = {each.call: (each, source) for each, source in reversed(lineage.departures)}
        found = []
        for event, source in first.values():
            start = event.call
            later = [each.call for each in uses if each.call and each.time > event.time]
            used = None if start is None else used_at(start, later)
            kind, cut = str(event.left), event
            for route in lineage.routes_to(source)[:1]:
                on_purpose = route.kind in TO_LEAVE and not any(each.nodes for each in route.beyond)
                if route.cut is not None and not on_purpose:
                    kind, cut = route.kind, route.cut
            found.append(Departure(kind, cut.op, cut.call, (), used))
        return sorted(found, key=lambda each: each.used_at is None)[:_MANY]

    def _replaced(self, x: torch.Tensor, track: Track | None) -> Subject | None:
        """The leaf whose name ``x`` took over: ``w = w - lr * g`` computes a new tensor."""
        made = None if track is None else self._made.get(track)
        where = None if made is None else made.call
        if made is None or where is None:
            return None
        assigned = reassigned_name(where)
        if assigned is None or assigned != self.names.of_torch(x):
            return None
        for leaf in self._leaves_of_line(made):
            held = leaf.thing
            known = None if held is None else self.names.of(held)
            if leaf.shape == tuple(x.shape) and (known is None or not known.isidentifier()):
                since = None if leaf.required_at is None else leaf.required_at[1]
                return Subject(assigned, "", since, True, True)
        return None

    def _leaves_of_line(self, made: Event) -> list[Track]:
        """The leaves that the expression on the line of ``made`` was computed from."""
        waiting, found = [made], []
        for event in waiting:  # grows while it is walked
            for source in event.inputs:
                before = self._made.get(source)
                if source.is_leaf:
                    found.append(source)
                elif before is not None and _line(before) == _line(made):
                    waiting.append(before)
        return found


def _line(event: Event) -> tuple[str, int] | None:
    return None if event.call is None else (event.call.file, event.call.line)


def _points(events: Iterable[Event]) -> list[Point]:
    return [Point(each.op, each.call) for each in events]
