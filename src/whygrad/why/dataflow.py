"""Where a number goes after it left for Python, read from the source code.

A Python float has no history.  But the line that took it out of a tensor gave it a name, and the
lines that use that name are there to be read.  Only plain names within one function (or module)
are followed, enough for ``scale = h.item()`` and then ``loss = w * scale``; never a guess across
calls.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator
from functools import lru_cache

from whygrad.autograd.source import Where

__all__ = ["used_at"]

_Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def used_at(start: Where, ends: Iterable[Where]) -> Where | None:
    """The first of ``ends`` whose line computes with what the line ``start`` took out."""
    statements = _statements_around(start)
    first = next((each for each in statements if _covers(each, start.line)), None)
    if first is None:
        return None
    tainted = _names_made_by(first)
    for _ in range(2):  # twice, because a loop comes back to earlier lines
        for statement in statements:
            if statement is not first and tainted & _names_read_by(statement):
                tainted |= _names_made_by(statement)
    for end in ends:
        if end.file == start.file and end.function == start.function:
            using = [each for each in statements if _covers(each, end.line)]
            if any(each is first or tainted & _names_read_by(each) for each in using):
                return end
    return None


def _statements_around(place: Where) -> list[ast.stmt]:
    """The simple statements of the function that ``place`` is in, in source order."""
    source = "".join(linecache.getlines(place.file))
    tree = _parsed(source)
    if tree is None:
        return []
    scope: _Scope = tree
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _covers(node, place.line):
            scope = node  # walked from the outside in, so the innermost one stays
    return list(_simple_statements(scope))


@lru_cache(maxsize=16)
def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except SyntaxError:
        return None


def _simple_statements(scope: ast.AST) -> Iterator[ast.stmt]:
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            yield node
        elif isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            yield from _simple_statements(node)


def _covers(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _names_made_by(statement: ast.stmt) -> set[str]:
    """What it assigns, and the containers it hands the value to: ``losses.append(x.item())``."""
    made = {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for node in ast.walk(statement):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            made |= _root_name(node)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        called = statement.value.func
        if isinstance(called, ast.Attribute) and called.attr in ("append", "add", "extend"):
            made |= _root_name(called)
    return made


def _root_name(node: ast.expr) -> set[str]:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def _names_read_by(statement: ast.stmt) -> set[str]:
    read = {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        read.add(statement.target.id)
    return read
