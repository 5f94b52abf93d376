"""Parts that are joined in one order for the features and in the other for the labels."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from whygrad.doctor.source.reader import called, source_of
from whygrad.ops.families import JOINS
from whygrad.source import Where

__all__ = ["Crossed", "imported", "joined_across"]


class Crossed(NamedTuple):
    """``x = x_pos + x_neg`` and ``y = y_neg + y_pos``: what is joined, and where."""

    first: tuple[str, str]
    second: tuple[str, str]
    where: Where  # of the second
    before: Where  # of the first


def imported(file: str) -> Iterator[str]:
    """The files beside a program that it imports by name."""
    source = source_of(file)
    names = [alias.name for each in source.nodes(ast.Import) for alias in each.names]
    names += [each.module for each in source.nodes(ast.ImportFrom) if each.module]
    for name in dict.fromkeys(names):
        path = Path(file).parent.joinpath(*name.split(".")).with_suffix(".py")
        if path.is_file():
            yield str(path)


def joined_across(file: str) -> Iterator[Crossed]:
    """Every pair of such statements of one block, as the names tell."""
    source = source_of(file)
    for body in source.blocks():
        known: list[tuple[tuple[str, str], int]] = []
        for each in body:
            parts = _parts(each.value) if isinstance(each, ast.Assign) else None
            if parts is None:
                continue
            for first, line in known:
                where, before = source.place(each.lineno), source.place(line)
                if _is_crossed(first, parts) and where is not None and before is not None:
                    yield Crossed(first, parts, where, before)
            known.append((parts, each.lineno))


def _parts(value: ast.expr) -> tuple[str, str] | None:
    """The names of two things that are put one behind the other."""
    match value:
        case ast.BinOp(left=one, op=ast.Add(), right=other):
            pair = [one, other]
        case ast.Call(args=[ast.List(elts=[one, other]) | ast.Tuple(elts=[one, other]), *_]) if (
            called(value) in JOINS
        ):
            pair = [one, other]
        case _:
            return None
    names = [ast.unparse(each).rpartition(".")[2] for each in pair
             if isinstance(each, (ast.Name, ast.Attribute))]  # fmt: skip
    return (names[0], names[1]) if len(names) == 2 else None


def _is_crossed(first: tuple[str, str], second: tuple[str, str]) -> bool:
    """``(x_pos, x_neg)`` and ``(y_neg, y_pos)``: each says of what it is, and which part."""
    (one, a), (other, b) = (name.rpartition("_")[::2] for name in first)
    (third, c), (fourth, d) = (name.rpartition("_")[::2] for name in second)
    of = one == other != third == fourth
    return of and bool(one and third) and a == d != b == c
