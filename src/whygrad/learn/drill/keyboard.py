"""What the learner types: single keys at a terminal, lines from a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable

__all__ = ["Keys", "keyboard"]

Keys = Callable[[], str]
"""The next key, or line without its end; ``EOFError`` or ``KeyboardInterrupt`` at the end."""


def keyboard() -> Keys:
    if sys.stdin is not None and sys.stdin.isatty():
        import click

        return click.getchar
    return _line


def _line() -> str:
    try:
        line = sys.stdin.readline() if sys.stdin is not None else ""
    except UnicodeDecodeError:  # no text, so nobody is typing
        line = ""
    if not line:
        raise EOFError
    return line.strip()
