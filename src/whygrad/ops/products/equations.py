"""Reading einsum equations.

Both forms (``"ij,jk->ik"`` and lists of numbers) become one letter per dimension for every operand
and for the result; an ellipsis is spelled out with letters the equation does not use.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from string import ascii_letters, ascii_uppercase
from typing import Any, NoReturn

from whygrad.errors import fail

__all__ = ["from_sublists", "parse"]

Shape = tuple[int, ...]


def from_sublists(arguments: Sequence[Any]) -> tuple[str, list[Any]]:
    """``a, [0, 1], b, [1, 2], [0, 2]`` as ``"AB,BC->AC"`` and the operands."""
    operands = list(arguments[0 : len(arguments) // 2 * 2 : 2])
    equation = ",".join(map(_spell, arguments[1::2]))
    if len(arguments) % 2:
        equation += "->" + _spell(arguments[-1])
    return equation, operands


def _spell(subscripts: Sequence[Any]) -> str:
    return "".join("..." if each is Ellipsis else _letter(each) for each in subscripts)


def _letter(number: Any) -> str:
    # PyTorch numbers letters in the order in which it sorts them: capitals first.
    letters = ascii_uppercase + ascii_letters[:26]
    if not isinstance(number, int) or not 0 <= number < len(letters):
        _refuse(
            f"sublist with {number!r}",
            "expected subscripts to be within the range [0, 52)",
            "number the dimensions from 0 to 51",
        )
    return letters[number]


@lru_cache(maxsize=512)
def parse(equation: str, shapes: tuple[Shape, ...]) -> tuple[tuple[str, ...], str]:
    """One letter per dimension of every operand, and the letters of the result."""
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(shapes):
        few = "fewer" if len(shapes) < len(terms) else "more"
        _refuse(
            equation,
            f"{few} operands were provided than specified in the equation",
            f"the equation has {len(terms)} terms, the call has {len(shapes)} operands",
        )
    for position, term in enumerate((*terms, output)):
        _check_subscripts(equation, term, "output" if position == len(terms) else position)
    spare = [letter for letter in ascii_letters if letter not in equation]
    covered = [
        _dimensions_under_ellipsis(equation, term, shape, position)
        for position, (term, shape) in enumerate(zip(terms, shapes, strict=True))
    ]
    labels = tuple(
        term.replace("...", "".join(reversed(spare[:count])))
        for term, count in zip(terms, covered, strict=True)
    )
    hidden = "".join(reversed(spare[: max(covered)]))
    if arrow:
        output = output.replace("...", hidden)
    else:
        given = "".join(sorted(inputs.replace(",", "").replace(".", "")))
        output = hidden + "".join(letter for letter in given if given.count(letter) == 1)
    _check_output(equation, labels, output)
    _check_sizes(equation, labels, shapes)
    return labels, output


def _dimensions_under_ellipsis(equation: str, term: str, shape: Shape, position: int) -> int:
    letters = len(term.replace("...", ""))
    if "..." in term:
        if letters > len(shape):
            _refuse(
                equation,
                f"the number of subscripts in the equation ({letters}) is more than the number of "
                f"dimensions ({len(shape)}) for operand {position}",
                f"operand {position} has shape {shape}: drop a subscript",
            )
        return len(shape) - letters
    if letters != len(shape):
        _refuse(
            equation,
            f"the number of subscripts in the equation ({letters}) does not match the number of "
            f"dimensions ({len(shape)}) for operand {position} and no ellipsis was given",
            f"operand {position} has shape {shape}: write one letter per dimension, or ...",
        )
    return 0


def _check_subscripts(equation: str, term: str, position: int | str) -> None:
    where = position if isinstance(position, str) else f"operand {position}"
    if term.count("...") > 1:
        _refuse(
            equation,
            f"found '.' for {where} for which an ellipsis was already found",
            "write ... once per term",
        )
    for letter in term.replace("...", ""):
        if letter == ".":
            _refuse(
                equation,
                f"found '.' for {where} that is not part of any ellipsis",
                "write three dots for the dimensions without a letter",
            )
        if letter not in ascii_letters:
            _refuse(
                equation,
                f"invalid subscript given at index {equation.index(letter)} in the equation "
                "string, subscripts must be in [a-zA-Z]",
                f"replace {letter!r} by a letter",
            )


def _check_output(equation: str, labels: tuple[str, ...], output: str) -> None:
    for letter in output:
        if output.count(letter) > 1:
            _refuse(
                equation,
                f"output subscript {letter} appears more than once in the output",
                "to write a diagonal, use diag_embed on the result",
            )
        if not any(letter in term for term in labels):
            _refuse(
                equation,
                f"output subscript {letter} does not appear in the equation for any input operand",
                "every letter after -> must come from an operand",
            )


def _check_sizes(equation: str, labels: tuple[str, ...], shapes: tuple[Shape, ...]) -> None:
    seen: dict[str, int] = {}
    for operand, (letters, shape) in enumerate(zip(labels, shapes, strict=True)):
        own: dict[str, int] = {}
        for letter, size in zip(letters, shape, strict=True):
            if own.setdefault(letter, size) != size:
                _refuse(
                    equation,
                    f"subscript {letter} is repeated for operand {operand} but the sizes don't "
                    f"match, {size} != {own[letter]}",
                    "a diagonal needs dimensions of equal size",
                )
            if size != 1 and seen.get(letter, 1) not in (1, size):
                _refuse(
                    equation,
                    f"subscript {letter} has size {size} for operand {operand} which does not "
                    f"broadcast with previously seen size {seen[letter]}",
                    f"the shapes are {', '.join(map(str, shapes))}: give dimensions of different "
                    "size different letters",
                )
            if seen.get(letter, 1) == 1:
                seen[letter] = size


def _refuse(equation: str, cause: str, fix: str) -> NoReturn:
    raise fail(
        RuntimeError,
        call=f"einsum({equation!r}, …)",
        cause=f"einsum(): {cause}",
        fix=fix,
    )
