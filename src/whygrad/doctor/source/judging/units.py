"""What the text says about units: that values are scaled, and what is printed behind a number."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from whygrad.doctor.source.judging.flow import Flow
from whygrad.doctor.source.reader import called, source_of, walked
from whygrad.ops.families import EXPONENTIALS
from whygrad.recording.judging.looks import Judged
from whygrad.source import Where
from whygrad.why.dataflow import statement_at

__all__ = ["Unit", "converts", "printed_with_unit", "scaled", "scales"]

_SCALING = re.compile(r"\w*Scaler|PowerTransformer|QuantileTransformer|inverse_transform|log|log1p")
_WORDS = (
    r"EUR|USD|GBP|CHF|dollars?|euros?|pounds?|cents?|[kMGT]?Wh?|°\s?C|°\s?F|degC|celsius|kelvin|"
    r"mm|cm|km|kg|km/h|m/s|mph|mpg|minutes?|hours?|days?|years?|bikes|rentals|passengers|units sold"
)
_BEHIND = re.compile(rf"\s*(?:k|M)?(?:[€$£]|(?:{_WORDS})(?![\w/]))")
_BEFORE = re.compile(rf"(?:[€$£]|\((?:{_WORDS})\)\s*[:=]?|\bin (?:{_WORDS})\s*[:=]?)\s*$")


class Unit(NamedTuple):
    """A unit that is printed with a number."""

    text: str
    where: Where


def scales(flow: Flow) -> bool:
    """Whether the program takes values to another scale somewhere: it has to take them back."""
    source = source_of(flow.where)
    names = {called(each) for each in source.nodes(ast.Call)}
    if any(_SCALING.fullmatch(each) for each in names):
        return True
    return any(_standardizes(each) for each in source.nodes(ast.BinOp))


def scaled(node: ast.expr) -> bool:
    """Whether an expression is what a scaler made: ``scaler.transform(y)``, ``(y - mean) / std``"""
    calls = {called(each) for each in walked(node, ast.Call)}
    named = "transform" in calls or "fit_transform" in calls
    return named or any(_standardizes(each) for each in walked(node, ast.BinOp))


def converts(node: ast.expr) -> bool:
    """Whether an expression takes values to another scale: back from a scaler, by a factor."""
    return any(
        called(each) == "inverse_transform" or called(each) in EXPONENTIALS
        for each in walked(node, ast.Call)
    ) or any(isinstance(each.op, (ast.Mult, ast.Div)) for each in walked(node, ast.BinOp))


def _standardizes(node: ast.BinOp) -> bool:
    """``(y - mean) / std``"""
    difference = node.left
    return (
        isinstance(node.op, ast.Div)
        and isinstance(difference, ast.BinOp)
        and isinstance(difference.op, ast.Sub)
        and not isinstance(difference.right, ast.Constant)
    )


def printed_with_unit(look: Judged) -> Unit | None:
    """The unit that the figure of a statement is printed with, unless it is scaled on its way."""
    source, statement = source_of(look.where), statement_at(look.where)
    if statement is None:
        return None
    names = set()
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if not _is_scaled(value):
            names = {name}
        case ast.Assign():
            return None
    for each in source.nodes(ast.Assign):  # one further: rmse = mse ** 0.5
        match each:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                reads = {one.id for one in walked(value, ast.Name)} & names
                if reads and _is_scaled(value):
                    return None
                names |= {name} if reads else set()
    for change in source.nodes(ast.AugAssign):
        if isinstance(change.target, ast.Name) and change.target.id in names:
            return None
    for text in source.nodes(ast.JoinedStr):
        for shown, unit in _units(text):
            own = statement.lineno <= text.lineno <= (statement.end_lineno or 0)
            used = {one.id for one in walked(shown, ast.Name)}
            judges = own and any(isinstance(one, (ast.Call, ast.BinOp)) for one in ast.walk(shown))
            where = source.place(text.lineno)
            if (used & names or judges) and not _is_scaled(shown) and where is not None:
                return Unit(unit, where)
    return None


def _units(text: ast.JoinedStr) -> Iterator[tuple[ast.expr, str]]:
    """Expressions in a formatted text that have a unit beside them."""
    for at, part in enumerate(text.values):
        if not isinstance(part, ast.FormattedValue):
            continue
        behind, before = (
            str(one.value) if isinstance(one, ast.Constant) else ""
            for one in (text.values[at + 1] if at + 1 < len(text.values) else part,
                        text.values[at - 1] if at else part)
        )  # fmt: skip
        found = _BEHIND.match(behind) or _BEFORE.search(before)
        if found is not None:
            yield part.value, found[0].strip(" :=()")


def _is_scaled(node: ast.expr) -> bool:
    """Whether something is multiplied that is no plain number, or scaled back."""
    return any(
        isinstance(each.op, ast.Mult)
        and not any(isinstance(side, ast.Constant) for side in (each.left, each.right))
        for each in walked(node, ast.BinOp)
    ) or any(called(each) in ("inverse_transform", "multiply") for each in walked(node, ast.Call))
