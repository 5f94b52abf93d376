"""What colours, borders and lines mean, as far as they occur in a picture."""

from __future__ import annotations

from whygrad.why.drawing.amounts import State, number
from whygrad.why.drawing.content import Picture
from whygrad.why.drawing.look import (
    ABSENT,
    ALARM,
    ASKED,
    BROKEN,
    INK,
    LOUD,
    PAPER,
    RAMP,
    ZERO,
    Look,
)
from whygrad.why.drawing.marks import Curve, Mark, Point, Rectangle, Words, frames
from whygrad.why.drawing.typography import width

__all__ = ["legend"]

_SIZE = 11.0
_LINE = 22.0
_SWATCH = (26.0, 14.0)
_NO_BOX = "none"  # the fill of an entry that is a line


def legend(picture: Picture, start: Point, room: float) -> tuple[list[Mark], float]:
    """Marks from ``start`` on, wrapped to the width of ``room``; and where they end."""
    marks: list[Mark] = []
    left, y = start
    how = "arrows point forward; the numbers on them are what flowed back"
    marks.append(Words(how, (left, y), _SIZE, room))
    y += _LINE
    x = left
    for looks, text in _entries(picture):
        long = len(looks) * _SWATCH[0] + 6 + width(text, _SIZE)
        if x > left and x + long > left + room:
            x, y = left, y + _LINE
        for index, look in enumerate(looks):
            corner = (x + index * _SWATCH[0], y - 0.75 * _SWATCH[1])
            marks += _swatch(Rectangle(*corner, *_SWATCH), look)
        words = width(text, _SIZE)
        marks.append(Words(text, (x + long - words, y), _SIZE, words))
        x += long + 20
    return marks, y + _LINE / 2


def _swatch(at: Rectangle, look: Look) -> list[Mark]:
    if look.fill != _NO_BOX:
        return frames(at, look)
    middle = at.y + at.height / 2
    start, end = (at.x, middle), (at.x + at.width, middle)
    return [Curve([start, start, end, end], look)]


def _entries(picture: Picture) -> list[tuple[list[Look], str]]:
    entries = []
    if picture.scale is not None:
        low = ("≤ " if picture.scale.clipped else "") + number(picture.scale.low)
        text = f"size of gradients, {low} to {number(picture.scale.high)}, log scale"
        entries.append(([Look(fill) for fill in RAMP], text))
    cards = picture.cards
    states = {amount.state for amount in picture.amounts}
    broken = State.BROKEN in states or any(card.broken for card in cards)
    keys = [
        (State.ZERO in states, Look(ZERO), "exactly 0"),
        (State.ABSENT in states, Look(ABSENT, pattern="dashed"), "not computed"),
        (broken, Look(BROKEN, ALARM, LOUD), "NaN or inf"),
        (any(card.leaf for card in cards), Look(PAPER, rounded=True), "leaf"),
        (any(not card.leaf for card in cards), Look(PAPER), "result of an op"),
        (any(card.root for card in cards), Look(PAPER, double=True), "backward started here"),
        (any(card.target for card in cards), Look(PAPER, INK, ASKED), "asked about"),
        (
            any(wire.hidden for wire in picture.wires),
            Look(_NO_BOX, pattern="dotted"),
            "by way of boxes not drawn",
        ),
    ]
    return entries + [([look], text) for occurs, look, text in keys if occurs]
