"""What a picture says: a card per box, a wire per edge, and what was left out."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass

import numpy as np

from whygrad.errors import fail
from whygrad.source import Where
from whygrad.why.drawing.amounts import Amount, Scale, State, measure, number, oddities
from whygrad.why.drawing.selection import choose, hidden_links
from whygrad.why.drawing.typography import clean, shorten
from whygrad.why.flow import Box, Edge, Flow

__all__ = ["Card", "Picture", "Wire", "compose"]

MOST = 60  # boxes in one picture, unless told otherwise
_NAME = 28  # characters


@dataclass(frozen=True)
class Card:
    """The words in one box, and what its look depends on."""

    title: str
    lines: tuple[str, ...]
    hint: str  # the whole name, for what shows it on demand
    amount: Amount
    broken: bool
    leaf: bool
    root: bool
    target: bool


@dataclass(frozen=True)
class Wire:
    """An edge between two cards (their indices); ``label`` is what flowed back along it."""

    source: int
    consumer: int
    position: int  # of the argument; links through hidden boxes come last
    label: str | None
    amount: Amount
    hidden: bool = False  # stands for a way through boxes that are not drawn


@dataclass(frozen=True)
class Picture:
    """Everything that is drawn, before anyone knows where."""

    title: str
    summary: str
    cards: list[Card]
    wires: list[Wire]
    scale: Scale | None
    left_out: str | None

    @property
    def amounts(self) -> list[Amount]:
        """Of all gradients and contributions that are drawn."""
        return _amounts(self.cards, self.wires)


def _amounts(cards: list[Card], wires: list[Wire]) -> list[Amount]:
    return [c.amount for c in cards] + [w.amount for w in wires if not w.hidden]


def compose(flow: Flow, most: int = MOST) -> Picture:
    """Put a flow into words; of more than ``most`` boxes the nearest and strongest."""
    if most < 2:
        raise fail(
            ValueError,
            call=f"draw(..., most={most})",
            cause="a picture needs at least two boxes: what was asked about and the root",
            fix="most=2 or more",
        )
    drawn = choose(flow, most)
    index = {box: place for place, box in enumerate(drawn)}
    cards = [_card(box, flow, index) for box in drawn]
    wires = [_wire(edge, index) for box in drawn for edge in box.inputs if edge.source in index]
    if len(drawn) < len(flow.boxes):
        wires += [
            Wire(index[above], index[below], len(below.inputs), None, Amount(State.ABSENT), True)
            for above, below in hidden_links(flow, drawn)
        ]
    missing = len(flow.boxes) - len(drawn)
    left_out = f"+ {_count(missing, 'more box')} not drawn" if missing else None
    scale = Scale.of(_amounts(cards, wires))
    return Picture(
        _title(flow), _summary(flow, cards, wires, left_out), cards, wires, scale, left_out
    )


def _card(box: Box, flow: Flow, drawn: dict[Box, int]) -> Card:
    name = clean(box.name) or "(no name)"
    amount = measure(box.gradient)
    value, value_broken = _value(box)
    lines = [_origin(box), value, _gradient(box, amount)]
    absent = Counter(
        kind
        for kind, edges in (("input", box.inputs), ("use", box.consumers))
        for edge in edges
        if (edge.source if kind == "input" else edge.consumer) not in drawn
    )
    if absent:
        counts = ", ".join(_count(n, kind) for kind, n in absent.items())
        lines.append(f"{counts} not drawn")
    return Card(
        title=shorten(name, _NAME),
        lines=tuple(lines),
        hint="\n".join([name, *lines]),
        amount=amount,
        broken=value_broken or amount.state is State.BROKEN,
        leaf=box.op is None,
        root=box is flow.root,
        target=box is flow.target,
    )


def _origin(box: Box) -> str:
    """``mul · diamond.py:6``"""
    made_by = "leaf" if box.op is None else shorten(clean(box.op), _NAME)
    if not made_by.isidentifier():
        made_by = f"op {made_by}"  # a mere "-" would look like a dash
    return made_by if box.where is None else f"{made_by} · {_place(box.where)}"


def _place(where: Where) -> str:
    return f"{shorten(clean(os.path.basename(where.file)), _NAME)}:{where.line}"


def _value(box: Box) -> tuple[str, bool]:
    """The value in words, and whether there is a NaN in it (an infinity may be meant: a mask)."""
    kind = f"{box.dtype}[{', '.join(map(str, box.shape))}]"
    if box.value is None:
        return ("value not kept" if box.is_scalar else kind), False
    values = np.asarray(box.value)
    odd = oddities(values)
    if values.size == 1:
        return f"value {number(values.reshape(()).item())}", "NaN" in odd
    return f"{kind}, {odd}" if odd else kind, "NaN" in odd


def _gradient(box: Box, amount: Amount) -> str:
    if amount.state is State.ABSENT or box.is_scalar:
        return f"grad {amount.text}"
    return f"grad: {amount.text}" if amount.state is State.BROKEN else f"‖grad‖ {amount.text}"


def _wire(edge: Edge, index: dict[Box, int]) -> Wire:
    one_number = edge.source.is_scalar
    amount = measure(edge.contribution, signed=True)
    label: str | None = amount.text
    if amount.state is State.NUMBER and not one_number:
        label = f"norm {amount.text}"
    if amount.state is State.ABSENT and edge.source.gradient is None:
        label = None  # its box says so once for all of its wires
    return Wire(index[edge.source], index[edge.consumer], edge.position, label, amount)


def _title(flow: Flow) -> str:
    title = f"Backward from {shorten(clean(flow.root.name), _NAME)}"
    if flow.target is None or flow.target is flow.root:
        return title
    return f"{title}, asked about {shorten(clean(flow.target.name), _NAME)}"


def _summary(flow: Flow, cards: list[Card], wires: list[Wire], left_out: str | None) -> str:
    sentences = [
        f"{_count(len(cards), 'box')} and {_count(len(wires), 'edge')}.",
        "Arrows point forward, from an input to what is computed from it; "
        "the number on an edge is the contribution that flowed back along it.",
    ]
    sentences += [f"{card.hint.replace(chr(10), ', ')}." for card in cards if card.target]
    if left_out is not None:
        sentences.append(f"{left_out}.")
    return " ".join(sentences)


def _count(count: int, what: str) -> str:
    ending = "" if count == 1 else "es" if what.endswith("x") else "s"
    return f"{count} {what}{ending}"
