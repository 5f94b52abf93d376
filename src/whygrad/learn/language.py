"""The two languages of the course, how one is chosen, and how a text is kept in both."""

from __future__ import annotations

import functools
import locale
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Literal

__all__ = ["LANGUAGES", "Language", "Words", "chosen", "in_language"]

Language = Literal["en", "es"]
LANGUAGES: tuple[Language, ...] = ("en", "es")

Words = Mapping[Language, str]
"""The same text in every language."""

_NAMES: Mapping[str, Language] = {"en": "en", "english": "en", "es": "es", "spanish": "es"}
_NEUTRAL = ("c", "posix")  # locales that speak as programs always have


def chosen(asked: str | None = None) -> Language:
    """The language to speak: what was asked for, ``WHYGRAD_LANG``, or that of the system."""
    if asked:
        return _known(asked) or "en"
    wish = os.environ.get("WHYGRAD_LANG")
    if not wish:
        return _of_the_system()
    found = _known(wish)
    if found is None:
        _say_unknown(wish)
        return _of_the_system()
    return found


def in_language(command: str, language: Language, otherwise: Language | None = None) -> str:
    """A command to show to somebody who reads ``language``.

    ``--lang`` stands in it only where the command would speak another language by itself: here
    and now, or (``otherwise``) where a page will be read.
    """
    if (otherwise or chosen()) == language:
        return command
    return f"{command} --lang {language}"


def _known(name: str) -> Language | None:
    """``es``, ``es_ES.UTF-8`` or, as Windows has it, ``Spanish_Spain``."""
    word = name.lower().partition(".")[0].partition("_")[0].partition("-")[0]
    if word in _NEUTRAL:
        return "en"
    return _NAMES.get(word)


def _of_the_system() -> Language:
    return next((known for name in _wishes() if (known := _known(name))), "en")


def _wishes() -> Iterator[str]:
    """The variables as ``gettext`` reads them: a locale need not be installed to be meant."""
    names = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    wanted = next(filter(None, names), None)
    if wanted is None or wanted.partition(".")[0].lower() not in _NEUTRAL:
        yield from filter(None, os.environ.get("LANGUAGE", "").split(":"))
    if wanted is not None:
        yield wanted
    elif found := locale.getlocale()[0]:
        yield found


@functools.cache
def _say_unknown(name: str) -> None:
    """Once: every text of a command asks for its language."""
    print(f"WHYGRAD_LANG={name}: whygrad speaks en (English) and es (español).", file=sys.stderr)
