"""Where a number goes after it left for Python, read from the source code.

A Python float has no history.  But the line that took it out of a tensor gave it a name, and the
lines that use that name are there to be read.  Only plain names within one function (or module)
are followed, enough for ``scale = h.item()`` and then ``loss = w * scale``, until they are given
something else to hold; never a guess across calls.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from whygrad.autograd.source import Where

__all__ = ["statement_at", "used_at"]


def used_at(start: Where, ends: Iterable[Where]) -> Where | None:
    """The first of ``ends`` whose line computes with what the line ``start`` took out."""
    scope = _scope_around(start)
    statements = list(_simple_statements(scope))
    first = next((each for each in statements if _covers(each, start.line)), None)
    if first is None:
        return None
    users = [first]
    carriers = _names_made_by(first)
    for statement in _run_after(first, statements, scope):
        if carriers & _names_read_by(statement):
            users.append(statement)
            carriers |= _names_made_by(statement)
        else:
            carriers -= _names_replaced_by(statement)
    for end in ends:
        if end.file == start.file and any(_covers(each, end.line) for each in users):
            return end
    return None


def _run_after(
    first: ast.stmt, statements: Sequence[ast.stmt], scope: ast.AST
) -> Iterator[ast.stmt]:
    """What may run after ``first``: all that follows, and its loop from the top."""
    yield from statements[statements.index(first) + 1 :]
    for node in ast.walk(scope):  # the outermost loop comes first
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)) and _covers(node, first.lineno):
            yield from (each for each in statements if _covers(node, each.lineno))
            return


def statement_at(place: Where) -> ast.stmt | None:
    """The simple statement that the call belongs to, of several on one line the right one."""
    column = 0 if place.columns is None else place.columns[0]
    found = None
    for statement in _simple_statements(_scope_around(place)):
        starts_before = (statement.lineno, statement.col_offset) <= (place.line, column)
        if _covers(statement, place.line) and (found is None or starts_before):
            found = statement
    return found


def _scope_around(place: Where) -> ast.AST:
    """The function that ``place`` is in, or its module."""
    tree = _parsed("".join(linecache.getlines(place.file)))
    scope: ast.AST = tree
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _covers(node, place.line):
            scope = node  # walked from the outside in, so the innermost one stays
    return scope


@lru_cache(maxsize=16)
def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


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


def _names_replaced_by(statement: ast.stmt) -> set[str]:
    """Names that hold something else from here on."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return {each.id for each in targets if isinstance(each, ast.Name)}


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
