"""Expressions that take numbers from data: statistics, codes, tables of what is in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from whygrad.doctor.source.reader import called, names_in, walked
from whygrad.ops.families import EXTREMES, MEAN, SPREADS, Family

__all__ = [
    "FITS",
    "Table",
    "gives_a_table",
    "is_category",
    "is_table",
    "normalised",
    "numbered",
    "takes_numbers",
]

FITS = ("fit_transform", "fit")
_SORTING = ("sorted",)  # that give the same order to the same values
_ROUNDS = 4  # assignments between what a function is given and what it takes numbers from


def takes_numbers(function: ast.FunctionDef, given: str) -> bool:
    """Whether a function takes numbers from what it is given, and uses them at once."""
    of = _followers(function, given)
    if any(normalised(each) in of for each in walked(function, ast.BinOp)):
        return True
    if any(of & names_in(each.data) and not each.sorts for each in numbered(function.body)):
        return True
    made = {
        target.id
        for each in walked(function, ast.Assign)
        if isinstance(each.value, ast.Call)
        for target in each.targets
        if isinstance(target, ast.Name)
    }
    for call in walked(function, ast.Call):
        if called(call) not in FITS or len(call.args) != 1 or not of & names_in(call.args[0]):
            continue
        scaler = call.func.value if isinstance(call.func, ast.Attribute) else None
        if isinstance(scaler, ast.Call) or (isinstance(scaler, ast.Name) and scaler.id in made):
            return True
    return False


def _followers(function: ast.FunctionDef, given: str) -> set[str]:
    """The names that hold what a function was given, or what was made from it."""
    found = {given}
    for _ in range(_ROUNDS):
        for each in walked(function, ast.Assign):
            if found & names_in(each.value):
                found |= {one.id for target in each.targets for one in walked(target, ast.Name)}
    return found


class Table(NamedTuple):
    """A table that numbers what is in some data."""

    name: str
    data: ast.expr
    line: int
    sorts: bool  # the same values get the same numbers, if they are all there


def numbered(body: list[ast.stmt]) -> Iterator[Table]:
    """The tables that a block makes, outside of functions of its own."""
    for each in body:
        match each:
            case ast.FunctionDef() | ast.ClassDef():
                continue
            case ast.Assign([ast.Name(id=name)], value) if is_table(value):
                yield Table(name, value, each.lineno, _sorts(value))
            case ast.For(iter=data):
                for made in walked(each, ast.Assign):
                    grown = _grown(made)
                    if grown is not None:
                        yield Table(grown, data, made.lineno, _sorts(data))
        for part in ("body", "orelse"):
            yield from numbered(getattr(each, part, []))


def _sorts(node: ast.expr) -> bool:
    return any(called(each) in _SORTING for each in walked(node, ast.Call))


def gives_a_table(function: ast.FunctionDef) -> bool:
    """Whether a function gives back a table that numbers what it finds."""
    values = [each.value for each in walked(function, ast.Return) if each.value is not None]
    returned = {each.id for each in values if isinstance(each, ast.Name)}
    for each in walked(function, ast.Assign):
        if _grown(each) in returned:
            return True
        match each:
            case ast.Assign([ast.Name(id=name)], _) if name in returned:
                values.append(each.value)
    return any(map(is_table, values))


def _grown(statement: ast.Assign) -> str | None:
    """``vocab`` of ``vocab[word] = len(vocab)``"""
    match statement:
        case ast.Assign(
            [ast.Subscript(ast.Name(id=name))], ast.Call(args=[ast.Name(id=same)]) as call
        ) if name == same and called(call) == "len":
            return name
    return None


def is_table(value: ast.expr) -> bool:
    """``{word: i for i, word in enumerate(words)}``"""
    return any(
        called(call) == "enumerate"
        for each in walked(value, ast.DictComp)
        for call in walked(each, ast.Call)
    )


def is_category(call: ast.Call) -> bool:
    return called(call) == "astype" and any(
        isinstance(each, ast.Constant) and each.value == "category" for each in call.args
    )


def normalised(node: ast.BinOp) -> str | None:
    """``x`` of ``(x - x.mean(0)) / x.std(0)``, feature by feature or as a whole.

    Also of ``(x[c] - x[c].mean()) / x[c].std()``, column by column.
    """
    if not isinstance(node.op, ast.Div) or not isinstance(node.left, ast.BinOp):
        return None
    top, below = node.left, node.right
    if not isinstance(top.op, ast.Sub):
        return None
    held = top.left.value if isinstance(top.left, (ast.Subscript, ast.Attribute)) else top.left
    if not isinstance(held, ast.Name):
        return None
    text = ast.unparse(top.left)
    centred = any(
        _statistic_of(each, text, MEAN | EXTREMES) for each in walked(top.right, ast.Call)
    )
    spread = any(_statistic_of(each, text, SPREADS | EXTREMES) for each in walked(below, ast.Call))
    return held.id if centred and spread else None


def _statistic_of(call: ast.Call, text: str, names: Family) -> bool:
    """Whether a call takes a statistic of a variable over its rows."""
    if called(call) not in names:
        return False
    of = call.func.value if isinstance(call.func, ast.Attribute) else None
    own = of is not None and ast.unparse(of) == text
    arguments = list(call.args)
    if not own:
        own = bool(arguments) and ast.unparse(arguments[0]) == text
        arguments = arguments[1:]
    named = [each.value for each in call.keywords if each.arg in ("axis", "dim")]
    axes = [ast.unparse(each) for each in (*arguments[:1], *named)]
    return own and (not axes or axes[0].startswith(("0", "(0", "[0")))
