"""A scene as a PNG, through Pillow: painted large and scaled down, which smooths every line."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import pairwise
from math import hypot
from typing import TYPE_CHECKING

from whygrad.errors import fail
from whygrad.why.drawing.look import INK, PAPER, Look
from whygrad.why.drawing.marks import Curve, Frame, Point, Words
from whygrad.why.drawing.paint_svg import DASHES
from whygrad.why.drawing.scene import Scene

if TYPE_CHECKING:
    from PIL import ImageDraw, ImageFont

    _Font = ImageFont.FreeTypeFont | ImageFont.ImageFont

__all__ = ["paint"]

_SHARPNESS = 2  # pixels of the file per unit of the scene
_SMOOTHING = 2  # painted pixels per pixel of the file
_MOST_PIXELS = 150_000_000  # painted
_PIECE = 6.0  # length of the straight pieces of a curve
_REGULAR = ("DejaVuSans.ttf", "Arial.ttf", "arial.ttf", "LiberationSans-Regular.ttf")
_BOLD = ("DejaVuSans-Bold.ttf", "Arial Bold.ttf", "arialbd.ttf", "LiberationSans-Bold.ttf")
_PLAINER = str.maketrans({"−": "-", "‖": "||", "≤": "<", "\N{REPLACEMENT CHARACTER}": "?"})


def paint(scene: Scene) -> bytes:
    """The scene as the content of a PNG file."""
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        raise fail(
            ImportError,
            call="draw(..., '….png')",
            cause="without Graphviz, PNG files are painted with Pillow, and it is not installed",
            fix="pip install 'whygrad[draw]', or draw into an .svg file, which needs nothing",
        ) from None
    area = scene.width * scene.height
    zoom = min(_SHARPNESS * _SMOOTHING, (_MOST_PIXELS / area) ** 0.5)
    if zoom < _SMOOTHING:
        raise fail(
            ValueError,
            call="draw(..., '….png')",
            cause=f"{scene.width:.0f} × {scene.height:.0f} units are too large for a readable PNG",
            fix="draw into an .svg file, or draw fewer boxes (most=…)",
        )
    image = Image.new("RGB", (round(scene.width * zoom), round(scene.height * zoom)), PAPER)
    painter = _Painter(ImageDraw.Draw(image), zoom)
    for mark in scene.marks:
        if isinstance(mark, Frame):
            painter.frame(mark)
        elif isinstance(mark, Curve):
            painter.line(list(_flat(mark.points)), mark.look)
        elif isinstance(mark, Words):
            painter.words(mark)
        else:
            painter.canvas.polygon([painter.at(point) for point in mark.points], fill=mark.colour)
    content = io.BytesIO()
    image.reduce(_SMOOTHING).save(content, "PNG")
    return content.getvalue()


class _Painter:
    """Knows the zoom and the fonts."""

    def __init__(self, canvas: ImageDraw.ImageDraw, zoom: float) -> None:
        self.canvas = canvas
        self.zoom = zoom
        self._fonts: dict[tuple[float, bool], tuple[_Font, bool]] = {}

    def at(self, point: Point) -> Point:
        return point[0] * self.zoom, point[1] * self.zoom

    def frame(self, mark: Frame) -> None:
        at, look = mark.at, mark.look
        half = look.thickness / 2  # Pillow draws outlines inside the box, SVG on its edge
        by = half if look.pattern == "solid" else 0.0
        box = [
            *self.at((at.x - by, at.y - by)),
            *self.at((at.x + at.width + by, at.y + at.height + by)),
        ]
        solid = look.pattern == "solid"
        self.canvas.rounded_rectangle(
            box,
            (mark.radius + by) * self.zoom,
            fill=look.fill,
            outline=look.stroke if solid else None,
            width=round(look.thickness * self.zoom) if solid else 0,
        )
        if not solid:
            self.line(_outline(mark), look)

    def line(self, points: list[Point], look: Look) -> None:
        thickness = max(round(look.thickness * self.zoom), 1)
        for piece in _dashed(points, DASHES.get(look.pattern)):
            self.canvas.line([self.at(p) for p in piece], look.stroke, thickness, joint="curve")

    def words(self, mark: Words) -> None:
        font, own = self._font(mark.size, mark.bold)
        text = mark.text if own else mark.text.translate(_PLAINER)
        wide = font.getlength(text) / self.zoom
        if wide > mark.room:
            font, _ = self._font(mark.size * mark.room / wide, mark.bold)
        self.canvas.text(self.at(mark.at), text, INK, font, anchor="ms" if mark.centred else "ls")

    def _font(self, size: float, bold: bool) -> tuple[_Font, bool]:
        """A font of the system; if there is none, Pillow's own, which lacks some signs."""
        from PIL import ImageFont

        if (size, bold) not in self._fonts:
            pixels = size * self.zoom
            for name in _BOLD if bold else _REGULAR:
                try:
                    self._fonts[size, bold] = ImageFont.truetype(name, pixels), True
                    break
                except OSError:
                    continue
            else:
                self._fonts[size, bold] = ImageFont.load_default(pixels), False
        return self._fonts[size, bold]


def _flat(points: list[Point]) -> Iterator[Point]:
    """A chain of cubics as a chain of points."""
    yield points[0]
    for start in range(0, len(points) - 1, 3):
        p, q, r, s = points[start : start + 4]
        if (p == q and r == s) or q == r == s:
            yield s
            continue
        pieces = 8 + int(hypot(s[0] - p[0], s[1] - p[1]) / _PIECE)
        for step in range(1, pieces + 1):
            t = step / pieces
            a, b, c, d = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
            yield (
                a * p[0] + b * q[0] + c * r[0] + d * s[0],
                a * p[1] + b * q[1] + c * r[1] + d * s[1],
            )


def _outline(mark: Frame) -> list[Point]:
    """Around a rounded rectangle, back to the start."""
    at, r = mark.at, mark.radius
    left, top, right, bottom = at.x, at.y, at.x + at.width, at.y + at.height
    k = 0.45 * r  # where the handles of a quarter circle are
    corners: list[Point] = [(left + r, top), (left + r, top), (right - r, top), (right - r, top)]
    corners += [(right - k, top), (right, top + k), (right, top + r)]
    corners += [(right, top + r), (right, bottom - r), (right, bottom - r)]
    corners += [(right, bottom - k), (right - k, bottom), (right - r, bottom)]
    corners += [(right - r, bottom), (left + r, bottom), (left + r, bottom)]
    corners += [(left + k, bottom), (left, bottom - k), (left, bottom - r)]
    corners += [(left, bottom - r), (left, top + r), (left, top + r)]
    corners += [(left, top + k), (left + k, top), (left + r, top)]
    return list(_flat(corners))


def _dashed(points: list[Point], dashes: tuple[float, float] | None) -> Iterator[list[Point]]:
    """Cut a line into its dashes."""
    if dashes is None:
        yield points
        return
    on, left = True, dashes[0]
    piece = [points[0]]
    for start, end in pairwise(points):
        length = hypot(end[0] - start[0], end[1] - start[1])
        done = 0.0
        while length - done > left:
            done += left
            share = done / length
            cut = (start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1]))
            if on:
                yield [*piece, cut]
            piece = [cut]
            on = not on
            left = dashes[0] if on else dashes[1]
        left -= length - done
        piece.append(end)
    if on and len(piece) > 1:
        yield piece
