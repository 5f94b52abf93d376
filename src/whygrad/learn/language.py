"""The two languages of the course, and how a text is kept in both."""

from __future__ import annotations

import locale
import os
from collections.abc import Mapping
from typing import Literal

__all__ = ["LANGUAGES", "Language", "Words", "chosen"]

Language = Literal["en", "es"]
LANGUAGES: tuple[Language, ...] = ("en", "es")

Words = Mapping[Language, str]
"""The same text in every language."""


def chosen(asked: str | None = None) -> Language:
    """The language to speak: what was asked for, ``WHYGRAD_LANG``, or that of the system."""
    wish = asked or os.environ.get("WHYGRAD_LANG") or locale.getlocale()[0] or ""
    return "es" if wish.lower().startswith(("es", "spanish")) else "en"
