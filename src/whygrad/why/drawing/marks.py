"""The marks a painter can make: frames, curves, triangles and words."""

from __future__ import annotations

from dataclasses import dataclass, replace

from whygrad.why.drawing.look import Look

__all__ = ["Curve", "Frame", "Mark", "Point", "Rectangle", "Triangle", "Words", "frames"]

Point = tuple[float, float]

_ROUND = 14.0
_SQUARE = 2.0


@dataclass(frozen=True)
class Rectangle:
    """``x`` and ``y`` of the top left corner, and the size."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Frame:
    """A filled and outlined rectangle; ``hint`` is for painters that can show it on demand."""

    at: Rectangle
    look: Look
    radius: float
    hint: str = ""


@dataclass(frozen=True)
class Curve:
    """A start, then three points per cubic piece."""

    points: list[Point]
    look: Look


@dataclass(frozen=True)
class Triangle:
    """The head of an arrow."""

    points: tuple[Point, Point, Point]
    colour: str


@dataclass(frozen=True)
class Words:
    """One line of text on a baseline; ``room`` is the width it must not exceed."""

    text: str
    at: Point
    size: float
    room: float
    bold: bool = False
    centred: bool = False


Mark = Frame | Curve | Triangle | Words


def frames(at: Rectangle, look: Look, hint: str = "") -> list[Mark]:
    """One frame, or two within each other where the border is double."""
    radius = min(_ROUND if look.rounded else _SQUARE, at.height / 2)
    outer = Frame(at, look, radius, hint)
    if not look.double:
        return [outer]
    by = 2.5 + look.thickness / 2
    inside = Rectangle(at.x + by, at.y + by, at.width - 2 * by, at.height - 2 * by)
    return [outer, Frame(inside, replace(look, thickness=1.0), max(radius - by, 1.0), hint)]
