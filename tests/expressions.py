"""Programs of one line, for tests that evaluate them in both libraries."""

from __future__ import annotations

__all__ = ["expressions"]


def expressions(text: str) -> list[str]:
    """Each expression of a block of text; blanks separate them, so they contain none."""
    return text.split()
