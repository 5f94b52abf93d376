"""A small drawing helper: scales, axes and marks as SVG text.

Everything is laid out in a box 480 wide, about as wide as it is shown, so that letters keep their
size on a phone and on a screen.  Colours are CSS classes: the page decides, in light and dark.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Canvas", "Mark", "Scale", "asinh_scale", "linear_scale", "log_scale"]

WIDTH = 480
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Scale:
    """From values to the unit interval, and the ticks in between."""

    position: Callable[[float], float]
    ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class Mark:
    """A numbered flag at a step; ``tone`` is "first", "cause" or "other"."""

    step: float
    number: int
    tone: str


def linear_scale(low: float, high: float) -> Scale:
    """Round numbers at the ticks."""
    if not high > low:
        pad = abs(low) / 2 or 1.0
        low, high = low - pad, high + pad
    step = _round_step((high - low) / 5)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    ticks = tuple((at * step, f"{at * step:.4g}") for at in range(first, last + 1))
    return Scale(lambda value: (value - low) / (high - low), ticks)


def log_scale(low: float, high: float) -> Scale:
    """Powers of ten at the ticks; what is not positive lies at the bottom."""
    bottom = math.floor(math.log10(low) + 1e-9)
    top = max(math.ceil(math.log10(high) - 1e-9), bottom + 1)
    every = -(-(top - bottom) // 5)
    small = bottom >= -3 and top <= 3
    ticks = tuple((10.0**at, _power(at, small)) for at in range(bottom, top + 1, every))

    def position(value: float) -> float:
        return 0.0 if value <= 0 else (math.log10(value) - bottom) / (top - bottom)

    return Scale(position, ticks)


def asinh_scale(low: float, high: float, unit: float) -> Scale:
    """Linear up to about ``unit``, logarithmic beyond, on both sides of zero."""
    least, most = math.asinh(low / unit), math.asinh(high / unit)
    span = (most - least) or 1.0
    powers = range(math.ceil(math.log10(unit)), math.floor(math.log10(max(-low, high, unit))) + 1)
    every = max(1, -(-len(powers) // 3))
    chosen = list(powers)[::-1][::every][::-1]
    small = all(-3 <= at <= 3 for at in chosen)
    values = [-(10.0**at) for at in reversed(chosen)] + [0.0] + [10.0**at for at in chosen]
    ticks = tuple(
        (value, _signed_power(value, small))
        for value in values
        if low * 1.001 <= value <= high * 1.001
    )
    return Scale(lambda value: (math.asinh(value / unit) - least) / span, ticks)


def _round_step(rough: float) -> float:
    size = 10.0 ** math.floor(math.log10(rough))
    return next(factor * size for factor in (1, 2, 2.5, 5, 10) if factor * size >= rough * 0.999)


def _power(exponent: int, small: bool) -> str:
    """``0.01`` where all ticks of a scale are ``small``, else ``10⁻²``."""
    return f"{10.0**exponent:g}" if small else "10" + str(exponent).translate(_SUPERSCRIPTS)


def _signed_power(value: float, small: bool) -> str:
    if value == 0:
        return "0"
    return ("−" if value < 0 else "") + _power(round(math.log10(abs(value))), small)


class Canvas:
    """A plot with its axes; ``across`` and ``up`` turn values into places."""

    def __init__(
        self,
        height: float,
        across: Scale,
        up: Scale | None = None,
        left: float = 48,
        right: float = 12,
    ) -> None:
        self.height = height
        self.left, self.right, self.top, self.bottom = left, WIDTH - right, 26.0, height - 34.0
        self._across = across
        self._up = up
        self._parts: list[str] = []

    def x(self, value: float) -> float:
        return self.left + self._across.position(value) * (self.right - self.left)

    def y(self, value: float) -> float:
        assert self._up is not None
        return self.bottom - self._up.position(value) * (self.bottom - self.top)

    def axes(self, across_label: str) -> None:
        """Grid lines, tick labels and the name of the horizontal axis."""
        for value, label in self._across.ticks:
            self.line(self.x(value), self.top, self.x(value), self.bottom, "grid")
            self.text(self.x(value), self.bottom + 14, label, "middle")
        for value, label in self._up.ticks if self._up else ():
            self.line(self.left, self.y(value), self.right, self.y(value), "grid")
            self.text(self.left - 6, self.y(value) + 4, label, "end")
        self.line(self.left, self.bottom, self.right, self.bottom, "axis")
        self.text((self.left + self.right) / 2, self.height - 4, across_label, "middle")

    def line(self, x1: float, y1: float, x2: float, y2: float, tone: str) -> None:
        self._add("line", tone, x1=x1, y1=y1, x2=x2, y2=y2)

    def rectangle(self, x: float, y: float, width: float, height: float, tone: str) -> None:
        self._add("rect", tone, x=x, y=y, width=max(width, 0.0), height=max(height, 0.0))

    def dot(self, x: float, y: float, tone: str) -> None:
        self._add("circle", tone, cx=x, cy=y, r=2.5)

    def text(self, x: float, y: float, text: str, anchor: str, tone: str = "tick") -> None:
        place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
        self._parts.append(f'<text class="{tone}" {place}>{escape(text)}</text>')

    def path(self, points: Sequence[tuple[float, float]], tone: str, closed: bool = False) -> None:
        """A line through places; a single place becomes a dot."""
        if len(points) == 1:
            self.dot(*points[0], tone.replace("curve", "dot"))
            return
        way = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + ("Z" if closed else "")
        self._parts.append(f'<path class="{tone}" d="{way}"/>')

    def curve(self, points: Sequence[tuple[float, float]], tone: str) -> None:
        """A series of values, interrupted where it is not finite."""
        stretch: list[tuple[float, float]] = []
        for step, value in (*points, (0.0, math.nan)):
            if math.isfinite(value):
                stretch.append((self.x(step), self.y(value)))
            elif stretch:
                self.path(stretch, f"curve {tone}")
                stretch = []

    def marks(self, marks: Sequence[Mark]) -> None:
        """Numbered flags above the plot; those too close to tell apart share one."""
        groups: list[list[Mark]] = []
        for mark in sorted(marks, key=lambda each: (each.step, each.number)):
            if groups and self.x(mark.step) - self.x(groups[-1][0].step) < 26:
                groups[-1].append(mark)
            else:
                groups.append([mark])
        for group in groups:
            order = ("first", "cause", "other")
            tone = min((mark.tone for mark in group), key=order.index)
            for step in {mark.step for mark in group}:
                self.line(self.x(step), self.top, self.x(step), self.bottom, f"event {tone}")
            numbers = [mark.number for mark in group]
            label = str(numbers[0]) if len(numbers) == 1 else f"{min(numbers)}–{max(numbers)}"
            width = 10 + 6.5 * len(label)
            middle = min(max(self.x(group[0].step), self.left), self.right - width / 2)
            self._add("rect", f"flag {tone}", x=middle - width / 2, y=4, width=width, height=17,
                      rx=8.5)  # fmt: skip
            self.text(middle, 16.5, label, "middle", "flag-text")

    def _add(self, kind: str, tone: str, **places: float) -> None:
        given = " ".join(f'{name}="{value:.1f}"' for name, value in places.items())
        self._parts.append(f'<{kind} class="{tone}" {given}/>')

    def svg(self, description: str) -> str:
        """The drawing, with the sentence that a screen reader says."""
        box = f'viewBox="0 0 {WIDTH} {self.height:g}"'
        label = escape(description, quote=True)
        return f'<svg role="img" aria-label="{label}" {box}>{"".join(self._parts)}</svg>'
