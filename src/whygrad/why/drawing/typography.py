"""Text without a font at hand: how wide it gets, how to shorten it, what may not be in it.

The widths are those of DejaVu Sans, the widest of the common sans-serif fonts, so that what fits
here fits in Helvetica and Arial too.
"""

from __future__ import annotations

import unicodedata

__all__ = ["clean", "shorten", "width"]

_BY_WIDTH = {
    0.29: "'ijlIJ",
    0.34: ",. ·/:;\\|",
    0.41: "f-t()[]!r",
    0.5: '"*_`‖',
    0.59: "sz∂?cLkFvxy",
    0.64: "PaoTYebdghnpquES0123456789${}",
    0.69: "KAVBRXZ",
    0.79: "CUHNDG&OQ",
    0.86: "w#+<=>^~−→≤≥×M",
    1.0: "%mW@…",
}
_WIDTHS = {letter: ems for ems, letters in _BY_WIDTH.items() for letter in letters}
_OTHER = 0.8
_BOLD = 1.16


def width(text: str, size: float, bold: bool = False) -> float:
    """An upper estimate of the width of ``text`` in pixels."""
    ems = sum(_WIDTHS.get(letter) or _unlisted(letter) for letter in text)
    return ems * size * (_BOLD if bold else 1.0)


def _unlisted(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    return 1.05 if unicodedata.east_asian_width(letter) in "WF" else _OTHER


def clean(text: str) -> str:
    """One line of printable characters: names are source text and may hold anything."""
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for letter in " ".join(text.split())
    )


def shorten(text: str, most: int) -> str:
    """At most ``most`` characters, cut in the middle: both ends of an expression tell a lot."""
    if len(text) <= most:
        return text
    tail = (most - 1) // 2
    return f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"
