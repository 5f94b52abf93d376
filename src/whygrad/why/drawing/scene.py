"""A picture laid out, with title and legend: the marks to make, back to front."""

from __future__ import annotations

from dataclasses import dataclass, replace

from whygrad.why.drawing.content import Card, Picture, Wire
from whygrad.why.drawing.layout import (
    ARROW,
    LABEL_SIZE,
    LINE,
    MARGIN,
    TEXT_SIZE,
    TITLE_SIZE,
    arrange,
)
from whygrad.why.drawing.legend import legend
from whygrad.why.drawing.look import card_look, wire_look
from whygrad.why.drawing.marks import Curve, Frame, Mark, Point, Rectangle, Triangle, Words, frames
from whygrad.why.drawing.typography import width

__all__ = ["Scene", "stage"]

_EDGE = 20.0  # around the picture
_HEADING = 19.0
_NARROWEST = 640.0  # so that the legend needs few lines


@dataclass(frozen=True)
class Scene:
    """A picture ready to paint."""

    title: str
    summary: str
    width: float
    height: float
    marks: list[Mark]


def stage(picture: Picture) -> Scene:
    """Lay the picture out and put title and legend around it."""
    layout = arrange(picture)
    header = [picture.title, *([picture.left_out] if picture.left_out else [])]
    room = max(layout.width, _NARROWEST, *(width(text, TITLE_SIZE, bold=True) for text in header))
    marks: list[Mark] = []
    y = _EDGE
    for text in header:
        y += _HEADING
        marks.append(Words(text, (_EDGE, y - 6), TITLE_SIZE, room, bold=True))
    corner = (_EDGE + (room - layout.width) / 2, y + _HEADING)
    for wire, curve in zip(picture.wires, layout.curves):
        points = [(x + corner[0], y + corner[1]) for x, y in curve]
        marks += _wire_marks(wire, picture, points, layout.down)
    for wire, at in zip(picture.wires, layout.labels):
        if at is not None:
            marks += _label_marks(wire, picture, _moved(at, corner))
    for card, at in zip(picture.cards, layout.cards):
        marks += _card_marks(card, picture, _moved(at, corner))
    below = (_EDGE, corner[1] + layout.height + 36)
    key, end = legend(picture, below, room)
    size = (room + 2 * _EDGE, end + _EDGE)
    return Scene(picture.title, picture.summary, *size, [*marks, *key])


def _moved(at: Rectangle, by: Point) -> Rectangle:
    return replace(at, x=at.x + by[0], y=at.y + by[1])


def _card_marks(card: Card, picture: Picture, at: Rectangle) -> list[Mark]:
    marks = frames(at, card_look(card, picture.scale), card.hint)
    room = at.width - 2 * MARGIN
    middle = at.x + at.width / 2
    baseline = at.y + (at.height - LINE * (1 + len(card.lines))) / 2 + 0.75 * LINE
    marks.append(Words(card.title, (middle, baseline), TITLE_SIZE, room, bold=True, centred=True))
    for line in card.lines:
        baseline += LINE
        marks.append(Words(line, (middle, baseline), TEXT_SIZE, room, centred=True))
    return marks


def _label_marks(wire: Wire, picture: Picture, at: Rectangle) -> list[Mark]:
    look = replace(wire_look(wire, picture.scale), thickness=1.0)
    place = (at.x + at.width / 2, at.y + at.height / 2 + 0.36 * LABEL_SIZE)
    words = Words(wire.label or "", place, LABEL_SIZE, at.width - 6, centred=True)
    return [Frame(at, look, at.height / 2), words]


def _wire_marks(wire: Wire, picture: Picture, curve: list[Point], down: bool) -> list[Mark]:
    """The line up to the head of its arrow, and the head."""
    look = wire_look(wire, picture.scale)
    x, y = curve[-1]
    half = ARROW / 2 + 0.4 * look.thickness
    if down:
        neck, left, right = (x, y - ARROW), (x - half, y - ARROW), (x + half, y - ARROW)
    else:
        neck, left, right = (x - ARROW, y), (x - ARROW, y - half), (x - ARROW, y + half)
    line = Curve([*curve[:-3], neck, neck, neck], look)
    return [line, Triangle(((x, y), left, right), look.stroke)]
