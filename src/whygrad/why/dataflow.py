"""Where a number goes after it left for Python, read from the source code.

A Python float has no history.  But the line that took it out of a tensor gave it a name, and the
lines that use that name are there to be read.  Only names (``scale``, ``self.scale``) within one
function or module are followed, enough for ``scale = h.item()`` and then ``loss = w * scale``,
until they are given something else to hold; never a guess across calls.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from whygrad.source import Where
from whygrad.why.syntax import covers, parsed

__all__ = ["statement_at", "used_at"]

_PLACES = (ast.Attribute, ast.Name, ast.Subscript)
_ROWS = (ast.List, ast.Tuple)
_COMPREHENSIONS = (ast.DictComp, ast.GeneratorExp, ast.ListComp, ast.SetComp)


def used_at(start: Where, ends: Iterable[Where]) -> Where | None:
    """The first of ``ends`` whose line computes with what the line ``start`` took out."""
    scope = _scope_around(start)
    statements = list(_statements(scope))
    first = _statement_in(statements, start)
    if first is None:
        return None
    users = {_position(first)}
    carriers = _made_by(first.node, partial(_contains, start))
    for each in _run_after(first, statements, scope):
        if carriers & _read_by(each.node):
            users.add(_position(each))
            carriers |= _made_by(each.node, partial(_reads_one_of, frozenset(carriers)))
        elif first.block[: len(each.block)] == each.block:  # it runs whenever the first one does
            carriers -= _replaced_by(each.node)
    places = {(end.line, end.columns): end for end in ends if end.file == start.file}
    for end in places.values():
        found = _statement_in(statements, end)
        if found is not None and _position(found) in users:
            return end
    return None


class _Statement(NamedTuple):
    node: ast.stmt
    block: tuple[Any, ...]  # the bodies it stands in, outermost first


def _position(statement: _Statement) -> tuple[int, int]:
    return statement.node.lineno, statement.node.col_offset


def _run_after(
    first: _Statement, statements: Sequence[_Statement], scope: ast.AST
) -> Iterator[_Statement]:
    """What may run after ``first``: all that follows, and its loop from the top."""
    yield from statements[statements.index(first) + 1 :]
    for node in ast.walk(scope):  # the outermost loop comes first
        is_loop = isinstance(node, (ast.For, ast.AsyncFor, ast.While))
        if is_loop and covers(node, first.node.lineno):
            yield from (each for each in statements if covers(node, each.node.lineno))
            return


def statement_at(place: Where) -> ast.stmt | None:
    """The statement that the call belongs to, of several on one line the right one."""
    found = _statement_in(_statements(_scope_around(place)), place)
    return None if found is None else found.node


def _statement_in(statements: Iterable[_Statement], place: Where) -> _Statement | None:
    line, column = place.line, 0 if place.columns is None else place.columns[0]
    found = None
    for each in statements:
        starts_before = _position(each) <= (line, column)
        if covers(each.node, line) and (found is None or starts_before):
            found = each
    return found


def _scope_around(place: Where) -> ast.AST:
    """The function that ``place`` is in, or its module."""
    tree = parsed("".join(place.source))
    scope: ast.AST = tree
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and covers(node, place.line):
            scope = node  # walked from the outside in, so the innermost one stays
    return scope


def _statements(scope: ast.AST, block: tuple[Any, ...] = ()) -> Iterator[_Statement]:
    """The simple statements, and the first lines of those with a body, in the order of the text."""
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
                yield from (_Statement(each, inner) for each in _first_line(node))
                yield from _statements(node, inner)


def _first_line(node: ast.AST) -> Iterator[ast.stmt]:
    """What a statement with a body does first, as the assignments that this amounts to."""
    pairs: list[tuple[ast.expr | None, ast.expr]] = []
    if isinstance(node, (ast.For, ast.AsyncFor)):
        pairs = [(node.target, node.iter)]
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        pairs = [(each.optional_vars, each.context_expr) for each in node.items]
    elif isinstance(node, (ast.If, ast.While)):
        pairs = [(None, node.test)]
    for target, value in pairs:
        made = ast.Expr(value) if target is None else ast.Assign([target], value)
        yield ast.copy_location(made, value)


def _contains(place: Where, node: ast.expr) -> bool:
    """Whether the call at ``place`` is part of an expression."""
    columns = place.columns or (node.col_offset, 0)
    start, end = (place.line, columns[0]), (node.end_lineno, node.end_col_offset)
    return (node.lineno, node.col_offset) <= start and (None in end or start < end)


def _reads_one_of(carriers: frozenset[str], node: ast.expr) -> bool:
    return bool(carriers & _read_by(node))


def _made_by(statement: ast.stmt, carries: Callable[[ast.expr], bool]) -> set[str]:
    """What holds the value afterwards: what it is assigned to, or appended to as to a list.

    ``carries`` tells of an expression whether the value goes in.
    """
    pairs = list(_assignments(statement))
    pairs = [each for each in pairs if carries(each[1])] or pairs
    made = set()
    for place in (place for target, _ in pairs for place in _places(target, ast.Store)):
        in_list = isinstance(place, ast.Subscript) and not _is_key(place.slice)
        made.add(ast.unparse(place.value if in_list else place))  # type: ignore[attr-defined]
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        called = statement.value.func
        if isinstance(called, ast.Attribute) and called.attr in ("append", "add", "extend"):
            made.add(ast.unparse(called.value))
    return made


def _assignments(statement: ast.stmt) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Targets with their values; ``a, b = c, d`` and ``a = {"b": c}`` are taken apart."""
    waiting: list[tuple[ast.expr, ast.expr]] = []
    if isinstance(statement, ast.Assign):
        waiting += ((each, statement.value) for each in statement.targets)
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)) and statement.value is not None:
        waiting.append((statement.target, statement.value))
    for node in ast.walk(statement):
        if isinstance(node, ast.NamedExpr):
            waiting.append((node.target, node.value))
    while waiting:
        target, value = waiting.pop()
        parts = _parts(target, value)
        if parts is None:
            yield target, value
        else:
            waiting += parts


def _parts(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]] | None:
    if isinstance(target, _ROWS) and isinstance(value, _ROWS):
        if len(target.elts) == len(value.elts):
            return list(zip(target.elts, value.elts, strict=True))
    elif isinstance(value, ast.Dict):
        keys = [each for each in value.keys if each is not None and _is_key(each)]
        if len(keys) == len(value.keys):
            holder = parsed(ast.unparse(target)).body[0].value  # type: ignore[attr-defined]  # is read, not set
            places = [ast.Subscript(holder, key, ast.Store()) for key in keys]
            return list(zip(places, value.values, strict=True))
    return None


def _is_key(index: ast.expr) -> bool:
    """``log["scale"]`` is a place of its own; ``losses[step]`` is any place of the list."""
    return isinstance(index, ast.Constant) and isinstance(index.value, str)


def _replaced_by(statement: ast.stmt) -> set[str]:
    """What holds something else from here on."""
    replaced = (*_places(statement, ast.Store), *_places(statement, ast.Del))
    is_whole = (
        each for each in replaced if not isinstance(each, ast.Subscript) or _is_key(each.slice)
    )
    return {ast.unparse(each) for each in is_whole}


def _read_by(node: ast.AST) -> set[str]:
    read = {ast.unparse(each) for each in _places(node, ast.Load)}
    if isinstance(node, ast.AugAssign):
        read.add(ast.unparse(node.target))
    return read


def _places(start: ast.AST, context: type[ast.expr_context]) -> Iterator[ast.expr]:
    """Names, attributes and subscripts that are read or set, as seen from the statement.

    The variables of a comprehension and the arguments of a lambda are others of the same name.
    """
    waiting: list[tuple[ast.AST, frozenset[str]]] = [(start, frozenset())]
    while waiting:
        node, hidden = waiting.pop()
        if isinstance(node, ast.Lambda):
            hidden |= {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
        elif isinstance(node, _COMPREHENSIONS):
            targets = (each for part in node.generators for each in ast.walk(part.target))
            hidden |= {each.id for each in targets if isinstance(each, ast.Name)}
        if isinstance(node, _PLACES) and type(node.ctx) is context and not hidden & _root(node):
            yield node
        waiting += ((each, hidden) for each in ast.iter_child_nodes(node))


def _root(place: ast.expr) -> frozenset[str]:
    """The variable that a place belongs to: ``self`` for ``self.scales[0]``."""
    while isinstance(place, (ast.Attribute, ast.Subscript)):
        place = place.value
    return frozenset((place.id,)) if isinstance(place, ast.Name) else frozenset()
