"""A forgotten ``return``: which function of the learner's gives back None where it must not."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Forgotten", "forgotten"]

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Forgotten:
    """A function without a ``return``, and the name that it could give back."""

    function: str
    line: int
    name: str


def forgotten(source: str, reference: str) -> Forgotten | None:
    """The first function that returns nothing although its counterpart in the solution does."""
    try:
        theirs, ours = dict(_functions(ast.parse(source))), dict(_functions(ast.parse(reference)))
    except (SyntaxError, ValueError, RecursionError):
        return None
    for path, function in theirs.items():
        unwritten = isinstance(function.body[-1], ast.Raise)
        if path in ours and _gives(ours[path]) and not _gives(function) and not unwritten:
            return Forgotten(path, function.lineno, _candidate(function, ours[path]))
    return None


def _functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, _Function]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, _Function):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")


def _gives(function: _Function) -> bool:
    """Whether it returns or yields something."""
    return any(
        (isinstance(node, ast.Return) and node.value is not None)
        or isinstance(node, (ast.Yield, ast.YieldFrom))
        for node in _own_nodes(function)
    )


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Without those of functions inside it."""
    for node in ast.iter_child_nodes(function):
        if not isinstance(node, (_Function, ast.Lambda)):
            yield node
            yield from _own_nodes(node)


def _candidate(function: _Function, reference: _Function) -> str:
    """What it assigns: the name that the solution returns, else its last one."""
    names = [
        target.id
        for node in _own_nodes(function)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    wanted = [
        node.value.id
        for node in _own_nodes(reference)
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Name)
    ]
    return next((name for name in wanted if name in names), names[-1] if names else "…")
