"""Where the text takes the root of each batch's mean square, and then the mean of the roots."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from whygrad.doctor.source.reader import called, source_of, walked
from whygrad.ops.families import MEAN, SQRT
from whygrad.source import Where

__all__ = ["Roots", "roots_of_batches"]


class Roots(NamedTuple):
    """Roots of batches that are added up or put into a list."""

    name: str
    where: Where
    loop: ast.For


def roots_of_batches(file: str) -> Iterator[Roots]:
    """Every sum or list of roots in a loop, of which the mean is taken behind it."""
    source = source_of(file)
    for loop in source.nodes(ast.For):
        if any(isinstance(each, ast.For) for body in loop.body for each in ast.walk(body)):
            continue
        roots = {
            target.id
            for each in walked(loop, ast.Assign)
            if _is_root(each.value)
            for target in each.targets
            if isinstance(target, ast.Name)
        }
        for statement in walked(loop, ast.stmt):
            name, value = _added(statement)
            where = source.place(statement.lineno)
            if name is None or value is None or where is None:
                continue
            taken = _is_root(value) or any(one.id in roots for one in walked(value, ast.Name))
            weighed = any(isinstance(each, ast.Mult) for each in ast.walk(value))
            if taken and not weighed and _is_averaged(source.tree, name, loop):
                yield Roots(name, where, loop)


def _is_root(node: ast.expr) -> bool:
    """``math.sqrt(mse)``, ``mse.sqrt()``, ``mse ** 0.5``"""
    if any(called(each) in SQRT for each in walked(node, ast.Call)):
        return True
    return any(
        isinstance(each.op, ast.Pow)
        and isinstance(each.right, ast.Constant)
        and each.right.value == 1 / 2
        for each in walked(node, ast.BinOp)
    )


def _added(statement: ast.stmt) -> tuple[str | None, ast.expr | None]:
    match statement:
        case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value):
            return name, value
        case ast.Expr(ast.Call(ast.Attribute(value=ast.Name(id=name), attr="append"), [value])):
            return name, value
    return None, None


def _is_averaged(tree: ast.AST, name: str, loop: ast.For) -> bool:
    """Whether the mean is taken behind the loop: over batches, as nothing else was counted."""
    for each in ast.walk(tree):
        if getattr(each, "lineno", 0) <= (loop.end_lineno or 0):
            continue
        match each:
            case ast.BinOp(left=ast.Name(id=divided), op=ast.Div()) if divided == name:
                return True
            case ast.BinOp(left=ast.Call(args=[ast.Name(id=divided)]), op=ast.Div()):
                return divided == name
            case ast.Call(args=[ast.Name(id=averaged), *_]) if averaged == name:
                return called(each) in MEAN
    return False
