"""A scene as SVG text: no ids, no scripts, no fonts of its own, so it fits into any page."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from whygrad.why.drawing.content import MOST, compose
from whygrad.why.drawing.look import INK, PAPER, Look
from whygrad.why.drawing.marks import Curve, Frame, Mark, Triangle
from whygrad.why.drawing.scene import Scene, stage
from whygrad.why.flow import Flow

__all__ = ["DASHES", "paint", "svg"]

DASHES = {"dashed": (5.0, 3.0), "dotted": (1.5, 4.0)}
_FONTS = "Helvetica, Arial, 'DejaVu Sans', sans-serif"


def svg(flow: Flow, *, most: int = MOST) -> str:
    """The picture as an ``<svg>`` element, to write into a page or show in a notebook."""
    return paint(stage(compose(flow, most)))


def paint(scene: Scene) -> str:
    """Write the marks down, back to front."""
    wide, high = _short(scene.width), _short(scene.height)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{wide}" height="{high}" '
        f'viewBox="0 0 {wide} {high}" font-family="{_FONTS}">',
        f"<title>{escape(scene.title)}</title>",
        f"<desc>{escape(scene.summary)}</desc>",
        f'<rect width="{wide}" height="{high}" fill="{PAPER}"/>',
        *map(_element, scene.marks),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _element(mark: Mark) -> str:
    if isinstance(mark, Frame):
        at = mark.at
        return (
            f'<rect x="{_short(at.x)}" y="{_short(at.y)}" width="{_short(at.width)}" '
            f'height="{_short(at.height)}" rx="{_short(mark.radius)}" fill="{mark.look.fill}" '
            f"{_outline(mark.look)}"
            + (f"><title>{escape(mark.hint)}</title></rect>" if mark.hint else "/>")
        )
    if isinstance(mark, Curve):
        start, *rest = [f"{_short(x)} {_short(y)}" for x, y in mark.points]
        return f'<path d="M{start} C{" ".join(rest)}" fill="none" {_outline(mark.look)}/>'
    if isinstance(mark, Triangle):
        corners = " ".join(f"{_short(x)},{_short(y)}" for x, y in mark.points)
        return f'<polygon points="{corners}" fill="{mark.colour}"/>'
    weight = ' font-weight="bold"' if mark.bold else ""
    anchor = ' text-anchor="middle"' if mark.centred else ""
    return (
        f'<text x="{_short(mark.at[0])}" y="{_short(mark.at[1])}" font-size="{_short(mark.size)}" '
        f'fill="{INK}" pointer-events="none"{weight}{anchor}>{escape(mark.text)}</text>'
    )


def _outline(look: Look) -> str:
    dashes = DASHES.get(look.pattern)
    pattern = "" if dashes is None else f' stroke-dasharray="{dashes[0]} {dashes[1]}"'
    return f'stroke={quoteattr(look.stroke)} stroke-width="{_short(look.thickness)}"{pattern}'


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
