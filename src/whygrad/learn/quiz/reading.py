"""What a learner typed, as an answer; or why it is not one.

Anything can arrive here: a paste of a megabyte, an escape sequence, half an emoji.  ``cleaned``
makes it safe to print and to keep; the readers after it accept what a person would call the same
answer and refuse the rest by raising ``Unreadable``, which costs the learner nothing.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping

from whygrad.learn.language import Language

__all__ = [
    "LONGEST_ANSWER",
    "Unreadable",
    "cleaned",
    "read_line_number",
    "read_number",
    "read_one_letter",
    "read_order",
    "read_several_letters",
    "read_yes",
]

LONGEST_ANSWER = 20_000
"""Characters of an answer that are read and kept."""

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_QUOTIENT = re.compile(rf"({_NUMBER})\s*(?:/\s*({_NUMBER}))?", re.A)
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?", re.A)
_LINE = re.compile(r"(?:[^\W\d]+\.?\s*)?(\d{1,6})\.?")
_YES: Mapping[Language, tuple[str, ...]] = {
    "en": ("y", "yes"),
    "es": ("s", "si", "sí", "y", "yes"),
}
_NO = ("n", "no")


class Unreadable(ValueError):
    """Not an answer to this question: the key of a phrase that says why, and its details."""

    def __init__(self, key: str, **details: object) -> None:
        super().__init__(key)
        self.key = key
        self.details = details


def cleaned(text: str) -> str:
    """Without control characters and halves of characters, and of bearable length.

    Ends of lines stay; a tab becomes a space; what has no width, as copied text often has, goes.
    """
    text = text[:LONGEST_ANSWER].replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    return unicodedata.normalize("NFC", "".join(map(_cleaned_character, text)))


def _cleaned_character(character: str) -> str:
    if character == "\n":
        return character
    category = unicodedata.category(character)
    return "" if category == "Cf" else "\ufffd" if category in ("Cc", "Cs") else character


def read_one_letter(text: str, letters: str) -> str:
    """``b``, ``B``, ``b)`` or ``(b)``."""
    found = _letters(text, letters)
    if len(found) != 1:
        raise Unreadable("one_letter", letters=_listed(letters))
    return found[0]


def read_several_letters(text: str, letters: str) -> tuple[str, ...]:
    """``a c``, ``ac`` or ``A, C``; in the order of the alphabet, each once."""
    found = _letters(text, letters)
    if not found:
        raise Unreadable("some_letters", letters=_listed(letters))
    return tuple(sorted(set(found)))


def read_order(text: str, numbers: str) -> tuple[str, ...]:
    """``3 1 2``, ``312`` or ``3 > 1 > 2``: every number once."""
    found = _letters(re.sub(r"->|[>→<]", " ", text), numbers)
    if sorted(found) != sorted(numbers):
        raise Unreadable("every_number_once", numbers=_listed(numbers))
    return tuple(found)


def _letters(text: str, letters: str) -> list[str]:
    """The letters typed, or nothing when something else stands among them."""
    typed = re.sub(r"[\s,;.()]+", "", text.lower())
    return list(typed) if all(each in letters for each in typed) else []


def _listed(letters: str) -> str:
    return " ".join(letters)


def read_number(text: str, language: Language) -> float:
    """``-12``, ``1e-3``, ``1/3``; a comma is Spanish for the decimal point."""
    typed = text.strip().replace("−", "-")
    if language == "es":
        typed = typed.replace(",", ".")
    elif _THOUSANDS.fullmatch(typed):
        typed = typed.replace(",", "")
    elif "," in typed:
        raise Unreadable("no_comma")
    match = _QUOTIENT.fullmatch(typed)
    if match is None:
        raise Unreadable("a_number")
    above, below = float(match[1]), float(match[2] or 1)
    if below == 0 or not math.isfinite(above / below):
        raise Unreadable("a_finite_number")
    return above / below


def read_line_number(text: str, count: int) -> int:
    """``7``, ``line 7`` or ``línea 7``, of a program with so many lines."""
    match = _LINE.fullmatch(text.strip())
    if match is None or not 1 <= int(match[1]) <= count:
        raise Unreadable("a_line", count=count)
    return int(match[1])


def read_yes(text: str, language: Language) -> bool:
    """Yes or no; in English an ``s`` would rather be somebody who wants to skip."""
    typed = text.strip().lower()
    if typed in _YES[language]:
        return True
    if typed in _NO:
        return False
    raise Unreadable("yes_or_no")
