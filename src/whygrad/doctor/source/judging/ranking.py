"""Where the text ranks scores and takes the lowest, and calls what it takes the best."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from whygrad.doctor.source.reader import Source, called, source_of, walked
from whygrad.source import Where

__all__ = ["Lowest", "lowest_as_best"]

_BEST = re.compile(r"top|best|rec(s|omm|all)|hits?(_|$|@)|ndcg|retriev|precision|candid", re.I)
_WORST = re.compile(r"bottom|worst|low|least|hard|uncertain|small|near|close|dist|rare|prune", re.I)
_UPWARD = re.compile(r"score|sim|prob|logit|pred|rating|relev|out|^s$|^p$", re.I)
_TURNED = re.compile(r"dist|norm|err|loss|rank|cost|energy|entropy|neg", re.I)
_LIBRARIES = ("np", "numpy", "torch")


class Lowest(NamedTuple):
    """The lowest of some scores, under a name that says they are the best."""

    scores: str
    made: int  # the line that gives the scores their name
    name: str
    where: Where


def lowest_as_best(file: str) -> Iterator[Lowest]:
    """Every statement that does so."""
    source = source_of(file)
    functions = list(source.nodes(ast.FunctionDef))
    for statement in source.nodes(ast.Assign):
        found = next((one for each in walked(statement.value, ast.expr)
                      if (one := _lowest(source, each)) is not None), None)  # fmt: skip
        where = source.place(statement.lineno)
        if found is None or where is None or not isinstance(found, ast.Name):
            continue
        inside = [each.name for each in functions if statement in ast.walk(each)]
        names = [ast.unparse(statement.targets[0]), *inside[-1:]]
        if not any(map(_BEST.search, names)) or any(map(_WORST.search, names)):
            continue
        made = _made(source, found.id, statement.lineno)
        if made is None or not _UPWARD.search(found.id) or _TURNED.search(ast.unparse(made)):
            continue
        yield Lowest(found.id, made.lineno, names[0], where)


def _made(source: Source, name: str, before: int) -> ast.Assign | None:
    """The last statement above a line that gives something to a name."""
    known = [
        each
        for each in source.nodes(ast.Assign)
        if each.lineno < before and any(ast.unparse(one) == name for one in each.targets)
    ]
    return max(known, key=lambda each: each.lineno, default=None)


def _lowest(source: Source, node: ast.expr) -> ast.expr | None:
    """The scores whose lowest are taken."""
    match node:
        case ast.Call() if called(node) == "topk":
            return _of(node) if _says(node, "largest", False) else None
        case ast.Subscript(value=ast.Call() as ranked, slice=places):
            return _from_the_low_end(ranked, places)
        case ast.Subscript(value=ast.Name(id=name), slice=places):
            made = [
                each.value
                for each in source.nodes(ast.Assign)
                if ast.unparse(each.targets[0]) == name
            ]
            if len(made) == 1 and isinstance(made[0], ast.Call):
                return _from_the_low_end(made[0], places)
    return None


def _from_the_low_end(ranked: ast.Call, places: ast.expr) -> ast.expr | None:
    """Whether a part of a ranking is its low end: the first of those that rise."""
    last = places.elts[-1] if isinstance(places, ast.Tuple) and places.elts else places
    if called(ranked) != "argsort" or not isinstance(last, ast.Slice) or last.step is not None:
        return None
    falls = _says(ranked, "descending", True)
    first = last.lower is None and last.upper is not None
    behind = isinstance(last.lower, ast.UnaryOp) and last.upper is None
    return _of(ranked) if (behind if falls else first) else None


def _says(call: ast.Call, name: str, value: bool) -> bool:
    return any(
        each.arg == name and isinstance(each.value, ast.Constant) and each.value.value is value
        for each in call.keywords
    )


def _of(call: ast.Call) -> ast.expr | None:
    """What a function or a method is asked about."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if owner is not None and not (isinstance(owner, ast.Name) and owner.id in _LIBRARIES):
        return owner
    return call.args[0] if call.args else None
