"""Text to learn from, and characters as numbers."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

import numpy as np

from whygrad.errors import fail
from whygrad.tensor import Tensor, wrap

__all__ = ["ASCII", "Characters", "text"]

ASCII = "\n" + "".join(map(chr, range(32, 127)))
_PLAIN = {
    "‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "--", "…": "...", "ß": "ss",
    "→": "->", "×": "x", "\t": "    ",
}  # fmt: skip


def text() -> str:
    """What Python says about itself: the texts behind ``help("assert")``, about 450,000 letters.

    Every CPython brings them along in ``pydoc_data``.  Topics come in alphabetical order, and
    typographic characters are replaced, so that the text is made of the 96 characters of
    ``Characters()`` whatever the version; the words differ a little from version to version.
    """
    from pydoc_data.topics import topics

    joined = "\n\n".join(topics[name].strip() for name in sorted(topics))
    for fancy, plain in _PLAIN.items():
        joined = joined.replace(fancy, plain)
    return "".join(letter for letter in unicodedata.normalize("NFKD", joined) if letter in _KNOWN)


_KNOWN = frozenset(ASCII)


class Characters:
    """A vocabulary of single characters: a character's number is its place in the alphabet."""

    def __init__(self, alphabet: Iterable[str] = ASCII) -> None:
        self.alphabet = "".join(alphabet)
        if len(set(self.alphabet)) != len(self.alphabet) or not self.alphabet:
            raise fail(
                ValueError,
                call=f"Characters({self.alphabet[:20]!r})",
                cause="an alphabet has every character once, and at least one",
                fix="use Characters.of(text), or Characters() for newline and printable ASCII",
            )
        self._codes = np.array([ord(each) for each in self.alphabet], np.uint32)
        self._order = np.argsort(self._codes)

    @classmethod
    def of(cls, text: str) -> Characters:
        """The characters that occur in ``text``, sorted."""
        return cls(sorted(set(text)))

    def encode(self, text: str) -> Tensor:
        """The numbers of the characters, as int64."""
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        places = np.searchsorted(self._codes, codes, sorter=self._order)
        numbers = self._order[np.minimum(places, len(self._order) - 1)].astype(np.int64)
        unknown = self._codes[numbers] != codes
        if unknown.any():
            position = int(unknown.argmax())
            raise fail(
                ValueError,
                call=f"encode a text of {len(text)} characters",
                cause=f"character {text[position]!r} at position {position} is not in the alphabet",
                fix="make the vocabulary from the text with Characters.of(text)",
            )
        return wrap(numbers)

    def decode(self, numbers: Tensor | Iterable[int]) -> str:
        """The text behind the numbers."""
        listed = numbers.tolist() if isinstance(numbers, Tensor) else numbers
        return "".join(self.alphabet[number] for number in listed)

    def __len__(self) -> int:
        return len(self.alphabet)

    def __repr__(self) -> str:
        return f"Characters({len(self)}: {self.alphabet[:40]!r}{'…' if len(self) > 40 else ''})"
