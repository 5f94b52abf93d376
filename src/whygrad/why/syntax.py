"""The user's program as syntax trees: what the questions and the doctor read is parsed here."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Any

__all__ = ["covers", "parsed"]


@lru_cache(maxsize=64)
def parsed(text: str) -> ast.Module:
    """The tree of a text; an empty one if it is no Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def covers(node: Any, line: int) -> bool:
    """Whether a line belongs to a node."""
    return bool(node.lineno <= line <= (node.end_lineno or node.lineno))
