"""Lists whose members are all one object: ``[Layer()] * n``, ``[layer for _ in range(n)]``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from whygrad.doctor.source.reader import called, covers, source_of, walked
from whygrad.source import Where

__all__ = ["OneObject", "in_one_function", "lists_of_one_object", "says_shared"]

# Weights that are used again on purpose are called so.
_SHARED = re.compile(r"shar|tie[ds]?\b|tying|same|albert|universal|recurs|recurr|reus|unroll", re.I)


class OneObject(NamedTuple):
    """A list that holds one object several times."""

    text: str
    where: Where
    kind: str | None  # what is called to make the object, where it is made in the list


def lists_of_one_object(file: str) -> Iterator[OneObject]:
    """Every list of a file that is written so that its members are one object."""
    source = source_of(file)
    for node in source.nodes(ast.expr):
        member = _member(node)
        where = None if member is None else source.place(node.lineno)
        if isinstance(member, (ast.Call, ast.Name, ast.Attribute)) and where is not None:
            kind = called(member) if isinstance(member, ast.Call) else None
            yield OneObject(ast.unparse(node), where, kind)


def _member(node: ast.expr) -> ast.expr | None:
    """What such a list has in each place: made once, or a variable that holds it."""
    match node:
        case ast.BinOp(left=ast.List(elts=[member]), op=ast.Mult()):
            return member
        case ast.BinOp(right=ast.List(elts=[member]), op=ast.Mult()):
            return member
        case ast.ListComp(elt=ast.Name() as member, generators=[ast.comprehension(ifs=[]) as each]):
            own = {it.id for it in walked(each.target, ast.Name)}
            return None if member.id in own else member
    return None


def says_shared(where: Where) -> bool:
    """Whether a line, its comment or the class around it says that weights are used again."""
    source = source_of(where)
    lines = source.text.splitlines()
    near = lines[max(0, where.line - 2) : where.line]
    around = [each.name for each in source.nodes(ast.ClassDef) if covers(each, where.line)]
    return any(_SHARED.search(each) for each in (*near, *around))


def in_one_function(one: Where, other: Where) -> bool:
    """Whether two lines stand in the same function of a file, or both in none."""
    return one.file == other.file and _function(one) is _function(other)


def _function(where: Where) -> ast.FunctionDef | None:
    around = [each for each in source_of(where).nodes(ast.FunctionDef) if covers(each, where.line)]
    return around[-1] if around else None
