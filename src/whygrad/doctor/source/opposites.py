"""Names that come in pairs: ``pos`` and ``neg``, ``chosen`` and ``rejected``."""

from __future__ import annotations

import ast
import re

from whygrad.source import Where
from whygrad.why.syntax import parsed

__all__ = ["is_far", "opposite", "parts_at"]

# What is to be preferred, and its opposite: whole words of names.
# "ap" and "an": from the anchor to the positive, to the negative.
_WORDS = (
    "positive/negative pos/neg chosen/rejected better/worse winner/loser win/lose "
    "preferred/dispreferred liked/disliked relevant/irrelevant good/bad match/mismatch ap/an p/n"
)
_PAIRS = [(good, bad) for good, _, bad in (each.partition("/") for each in _WORDS.split())]
_ALONE = 1  # letters: a name of one says nothing, unless the call is about such a pair
_FAR = re.compile(r"(?:^|_)(?:d|dist\w*|energy|cost|loss|err\w*)(?:_|$)|^d(?:pos|neg|p|n)$")


def parts_at(where: Where) -> tuple[ast.expr, list[ast.expr]] | None:
    """The expression at a place: its two operands, or the arguments of its call."""
    lines = where.source
    if where.columns is None or not 0 < where.line <= len(lines):
        return None
    first, last = where.columns
    try:  # columns count bytes
        text = lines[where.line - 1].encode()[first:last].decode()
    except UnicodeDecodeError:
        return None
    node = next(
        (each.value for each in parsed(text.strip()).body if isinstance(each, ast.Expr)), None
    )
    if isinstance(node, ast.BinOp):
        return node, [node.left, node.right]
    return (node, list(node.args)) if isinstance(node, ast.Call) else None


def opposite(one: ast.expr, other: ast.expr, letters: bool = False) -> tuple[str, str, int] | None:
    """The names in two expressions that are each other's opposite, and where the good one is.

    1: in the first, -1: in the second.  None if there is no such pair, or both ways; ``letters``
    admits ``p`` and ``n``.
    """
    names = [_names(each) for each in (one, other)]
    own, others = names[0] - names[1], names[1] - names[0]
    found = {
        (left, right, side)
        for left in own
        for right in others
        if (side := _side(left, right, letters)) is not None
    }
    return found.pop() if len({side for _, _, side in found}) == 1 else None


def is_far(name: str) -> bool:
    """Whether a name is that of a distance or of something else that is to be small."""
    return _FAR.search(name.lower()) is not None


def _side(left: str, right: str, letters: bool) -> int | None:
    words = [_words(each) for each in (left, right)]
    if len(words[0]) != len(words[1]):
        return None
    changed = [pair for pair in zip(*words) if pair[0] != pair[1]]
    if len(changed) != 1 or (not letters and min(len(left), len(right)) <= _ALONE):
        return None
    for good, bad in _PAIRS:
        for (one, other), side in (((good, bad), 1), ((bad, good), -1)):
            around = [_around(*each) for each in zip(changed[0], (one, other))]
            if around[0] is not None and around[0] == around[1]:
                return side
    return None


def _around(word: str, wanted: str) -> tuple[str, ...] | None:
    """What stands around a word: ``dpos`` and ``positives`` may have a letter before or after."""
    found = re.fullmatch(f"([a-z]?){wanted}(s?)", word)
    return None if found is None else found.groups()


def _words(name: str) -> list[str]:
    return [each.lower() for each in re.split(r"_|(?<=[a-z])(?=[A-Z])", name)]


def _names(node: ast.expr) -> set[str]:
    return {
        each.id if isinstance(each, ast.Name) else each.attr
        for each in ast.walk(node)
        if isinstance(each, (ast.Name, ast.Attribute))
    }
