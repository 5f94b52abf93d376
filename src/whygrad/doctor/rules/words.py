"""Words that the findings of several rules share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

__all__ = ["as_code", "few", "listed", "quoted"]

_MOST = 4  # names or places that a report shows
_LENGTH = 200  # of an exception that a report quotes

T = TypeVar("T")


def few(found: Sequence[T]) -> Sequence[T]:
    """As many of them as are worth showing."""
    return found[:_MOST]


def as_code(path: str) -> str:
    """``model.transformer.h[3].attn`` for ``transformer.h.3.attn``"""
    return re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", f"model.{path}" if path else "model")


def listed(names: Iterable[str]) -> str:
    """``a, b, c, d and 3 more``"""
    known = list(names)
    more = f" and {len(known) - _MOST} more" if len(known) > _MOST else ""
    return ", ".join(known[:_MOST]) + more


def quoted(text: str) -> str:
    """The first line of a message."""
    return text.partition("\n")[0][:_LENGTH]
