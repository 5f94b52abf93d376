"""What can only be read in the program's text: what it did to its data outside of any engine."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from types import CodeType

from whygrad.source import Where

__all__ = ["is_repeated_with", "shuffles", "shuffles_apart", "statements"]

_SEEDING = ("seed", "manual_seed", "set_state", "setstate", "default_rng", "RandomState", "Random")
_PERMUTING = ("permutation", "permuted", "randperm")


def statements(file: str) -> Iterator[Where]:
    """One place for every line of a file that has code."""
    code = _compiled(file)
    waiting = [] if code is None else [code]
    while waiting:
        current = waiting.pop()
        seen: set[int] = set()
        for begin, _, line in current.co_lines():
            if line and line not in seen:
                seen.add(line)
                yield Where(current, begin)
        waiting += [each for each in current.co_consts if isinstance(each, CodeType)]


def is_repeated_with(one: Where, other: Where) -> bool:
    """Whether two lines stand in the body of the same loop."""
    if one.file != other.file:
        return False
    try:
        tree = ast.parse("".join(linecache.getlines(one.file)))
    except SyntaxError:
        return False
    return any(
        isinstance(loop, (ast.For, ast.While))
        and loop.lineno < min(one.line, other.line)
        and max(one.line, other.line) <= (loop.end_lineno or 0)
        for loop in ast.walk(tree)
    )


def shuffles_apart(file: str) -> tuple[tuple[str, Where], tuple[str, Where]] | None:
    """Two variables that are shuffled one after the other, not seeded alike: names and lines."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return None
    for scope in ast.walk(tree):
        if isinstance(scope, (ast.Module, ast.FunctionDef)):
            found = _first_pair(scope.body)
            if found is not None:
                places = {each.line: each for each in statements(file)}
                one, other = found
                if one[1] in places and other[1] in places:
                    return (one[0], places[one[1]]), (other[0], places[other[1]])
    return None


def shuffles(file: str) -> Iterator[tuple[str, Where]]:
    """Every statement that puts a variable into random order: its name, and where."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return
    places = {each.line: each for each in statements(file)}
    for each in ast.walk(tree):
        if isinstance(each, ast.stmt) and each.lineno in places:
            name = _shuffled(each)
            if name is not None:
                yield name, places[each.lineno]


def _first_pair(body: list[ast.stmt]) -> tuple[tuple[str, int], tuple[str, int]] | None:
    """The first two names in a row of statements that are shuffled without a seed in between."""
    last: tuple[str, int] | None = None
    for statement in body:
        if isinstance(statement, (ast.For, ast.While, ast.If, ast.With)):
            inside = _first_pair(statement.body)
            if inside is not None:
                return inside
            continue
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            continue
        if _calls(statement, _SEEDING):
            last = None
        name = _shuffled(statement)
        if name is not None:
            if last is not None and last[0] != name:
                return last, (name, statement.lineno)
            last = name, statement.lineno
    return None


def _shuffled(statement: ast.stmt) -> str | None:
    """The variable that a statement puts into random order."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        if _name(call.func) == "shuffle" and call.args and isinstance(call.args[0], ast.Name):
            return call.args[0].id
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        value = statement.value
        if isinstance(value, ast.Subscript) and _calls(value.slice, _PERMUTING):
            return value.value.id if isinstance(value.value, ast.Name) else None
        if isinstance(value, ast.Call) and _name(value.func) in _PERMUTING and value.args:
            first = value.args[0]
            if isinstance(first, ast.Name) and first.id == statement.targets[0].id:
                return first.id
    return None


def _calls(node: ast.AST, names: tuple[str, ...]) -> bool:
    return any(isinstance(each, ast.Call) and _name(each.func) in names for each in ast.walk(node))


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _compiled(file: str) -> CodeType | None:
    try:
        return compile("".join(linecache.getlines(file)), file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
