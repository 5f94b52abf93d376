"""How things look: one decision for every painter.

Colour only ever repeats what a shape, a border or a word already says.  The blues differ in
lightness, so they stay apart for colour-blind eyes and in grey; all fills are light enough for
dark text.
"""

from __future__ import annotations

from dataclasses import dataclass

from whygrad.why.drawing.amounts import Amount, Scale, State
from whygrad.why.drawing.content import Card, Wire

__all__ = ["Look", "card_look", "wire_look"]

INK = "#1b1b1b"
PAPER = "#ffffff"
RAMP = ("#e6f1fb", "#c9e0f4", "#a5cbea", "#7fb3dd", "#5b9bd0")  # small to large
ZERO = "#d9d9d9"
BROKEN = "#ffd500"
ALARM = "#b00020"  # the border of what is broken
ABSENT = PAPER

THIN, LOUD, ASKED = 1.2, 2.0, 4.0  # borders: of most things, of what is broken, of the target

_BORDER = "#4a4a4a"


@dataclass(frozen=True)
class Look:
    """Fill and outline of a box, a label or a wire."""

    fill: str
    stroke: str = _BORDER
    thickness: float = THIN
    pattern: str = "solid"  # or "dashed", "dotted"
    rounded: bool = False
    double: bool = False


def _fill(amount: Amount, scale: Scale | None) -> str:
    if amount.state is State.NUMBER and scale is not None:
        return RAMP[scale.level(amount.size)]
    return {State.ABSENT: ABSENT, State.ZERO: ZERO}.get(amount.state, BROKEN)


def card_look(card: Card, scale: Scale | None) -> Look:
    """Leaves are round, the root has a second border, what was asked about a thick one."""
    return Look(
        fill=BROKEN if card.broken else _fill(card.amount, scale),
        stroke=ALARM if card.broken else INK if card.target else _BORDER,
        thickness=ASKED if card.target else LOUD if card.broken else THIN,
        pattern="dashed" if card.amount.state is State.ABSENT else "solid",
        rounded=card.leaf,
        double=card.root,
    )


def wire_look(wire: Wire, scale: Scale | None) -> Look:
    """The more flowed back, the thicker; ``fill`` is for the label."""
    broken = wire.amount.state is State.BROKEN
    thickness = THIN
    if wire.amount.state is State.NUMBER and scale is not None:
        thickness += 0.5 * scale.level(wire.amount.size)
    pattern = "dotted" if wire.hidden else "solid"
    if wire.amount.state is State.ABSENT and not wire.hidden:
        pattern = "dashed"
    return Look(
        fill=_fill(wire.amount, scale),
        stroke=ALARM if broken else _BORDER,
        thickness=LOUD if broken else thickness,
        pattern=pattern,
    )
