"""Where a number goes after it left for Python, read from the source code.

A Python float has no history.  But the line that took it out of a tensor gave it a name, and the
lines that use that name are there to be read.  Only names (``scale``, ``self.scale``) within one
function or module are followed, enough for ``scale = h.item()`` and then ``loss = w * scale``,
until they are given something else to hold; never a guess across calls.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from whygrad.autograd.source import Where

__all__ = ["statement_at", "used_at"]

_PLACES = (ast.Attribute, ast.Name, ast.Subscript)


def used_at(start: Where, ends: Iterable[Where]) -> Where | None:
    """The first of ``ends`` whose line computes with what the line ``start`` took out."""
    scope = _scope_around(start)
    statements = list(_simple_statements(scope))
    first = next((each for each in statements if _covers(each.node, start.line)), None)
    if first is None:
        return None
    users = [first.node]
    carriers = _made_by(first.node)
    for statement, block in _run_after(first, statements, scope):
        if carriers & _read_by(statement):
            users.append(statement)
            carriers |= _made_by(statement)
        elif first.block[: len(block)] == block:  # it runs whenever the first one does
            carriers -= _replaced_by(statement)
    for end in ends:
        if end.file == start.file and any(_covers(each, end.line) for each in users):
            return end
    return None


class _Statement(NamedTuple):
    node: ast.stmt
    block: tuple[Any, ...]  # the bodies it stands in, outermost first


def _run_after(
    first: _Statement, statements: Sequence[_Statement], scope: ast.AST
) -> Iterator[_Statement]:
    """What may run after ``first``: all that follows, and its loop from the top."""
    yield from statements[statements.index(first) + 1 :]
    for node in ast.walk(scope):  # the outermost loop comes first
        is_loop = isinstance(node, (ast.For, ast.AsyncFor, ast.While))
        if is_loop and _covers(node, first.node.lineno):
            yield from (each for each in statements if _covers(node, each.node.lineno))
            return


def statement_at(place: Where) -> ast.stmt | None:
    """The simple statement that the call belongs to, of several on one line the right one."""
    column = 0 if place.columns is None else place.columns[0]
    found = None
    for statement, _ in _simple_statements(_scope_around(place)):
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


def _simple_statements(scope: ast.AST, block: tuple[Any, ...] = ()) -> Iterator[_Statement]:
    """Those without a body, in the order of the text."""
    for name, value in ast.iter_fields(scope):
        if not isinstance(value, list):
            continue
        inner = (*block, (id(scope), name))
        for node in value:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            if isinstance(node, ast.stmt) and not hasattr(node, "body"):
                yield _Statement(node, inner)
            elif isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                yield from _simple_statements(node, inner)


def _covers(node: Any, line: int) -> bool:
    return bool(node.lineno <= line <= (node.end_lineno or node.lineno))


def _made_by(statement: ast.stmt) -> set[str]:
    """What it assigns, and the containers it hands the value to: ``losses.append(x.item())``."""
    made = set()
    for node in ast.walk(statement):
        if isinstance(node, _PLACES) and isinstance(node.ctx, ast.Store):
            in_list = isinstance(node, ast.Subscript) and not _is_key(node.slice)
            made.add(ast.unparse(node.value if in_list else node))  # type: ignore[union-attr]
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        called = statement.value.func
        if isinstance(called, ast.Attribute) and called.attr in ("append", "add", "extend"):
            made.add(ast.unparse(called.value))
    return made


def _is_key(index: ast.expr) -> bool:
    """``log["scale"]`` is a place of its own; ``losses[step]`` is any place of the list."""
    return isinstance(index, ast.Constant) and isinstance(index.value, str)


def _replaced_by(statement: ast.stmt) -> set[str]:
    """What holds something else from here on."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return {ast.unparse(each) for each in targets if isinstance(each, _PLACES)}


def _read_by(statement: ast.stmt) -> set[str]:
    read = {
        ast.unparse(node)
        for node in ast.walk(statement)
        if isinstance(node, _PLACES) and isinstance(node.ctx, ast.Load)
    }
    if isinstance(statement, ast.AugAssign):
        read.add(ast.unparse(statement.target))
    return read
