"""Whether the text leaves out any positions of a comparison before it is summed up."""

from __future__ import annotations

import ast

from whygrad.doctor.source.reader import called, walked
from whygrad.ops.families import TOTALS
from whygrad.source import Where
from whygrad.why.dataflow import statement_at

__all__ = ["counts_all"]

_PLAIN = ("float", "double", "int", "long", "flatten", "view", "reshape")


def counts_all(where: Where, scope: ast.AST) -> bool:
    """Whether ``(pred == y).sum()`` stands there as it is, and nothing in the function asks which
    positions count."""
    statement = statement_at(where)
    asks = any(isinstance(each, (ast.NotEq, ast.BitAnd)) for each in ast.walk(scope))
    named = any("mask" in each.id.lower() for each in walked(scope, ast.Name))
    if (
        statement is None
        or asks
        or named
        or any(called(each) == "ne" for each in walked(scope, ast.Call))
    ):
        return False
    return any(
        called(each) in TOTALS
        and isinstance(each.func, ast.Attribute)
        and _compares(each.func.value)
        for each in walked(statement, ast.Call)
    )


def _compares(node: ast.expr) -> bool:
    """``pred == y``, or a number made of it."""
    match node:
        case ast.Compare(ops=[ast.Eq()]):
            return True
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _PLAIN:
            return _compares(inner)
    return False
