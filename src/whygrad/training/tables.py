"""Columns of text, in a terminal and in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

__all__ = ["as_html", "as_text"]


def as_text(rows: Sequence[Sequence[str]], align: str) -> str:
    """Rows below each other; ``align`` has ``<`` or ``>`` per column.

    The first row is the head, underlined.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, align, widths, strict=True)
        ).rstrip()
        for row in rows
    ]
    lines.insert(1, "─" * max(map(len, lines)))
    return "\n".join(lines)


def as_html(rows: Sequence[Sequence[str]], align: str, below: str = "") -> str:
    """The same as a table; ``below`` is text that belongs under it."""
    body = "".join(
        _row(row, align, "th" if number == 0 else "td") for number, row in enumerate(rows)
    )
    note = f"<div>{escape(below)}</div>" if below else ""
    return f"<table style='border-collapse:collapse'>{body}</table>{note}"


def _row(cells: Sequence[str], align: str, tag: str) -> str:
    sides = {"<": "left", ">": "right"}
    made = "".join(
        f"<{tag} style='text-align:{sides[side]};white-space:pre;padding:1px 8px'>"
        f"{escape(cell)}</{tag}>"
        for cell, side in zip(cells, align, strict=True)
    )
    return f"<tr>{made}</tr>"
