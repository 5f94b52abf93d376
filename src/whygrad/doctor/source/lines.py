"""Questions to the program's source: which line defines, assigns or collects something?

A run shows the lines that computed.  The line to blame may be another one: the assignment of a
layer that nobody calls, the ``def backward`` with the mistake in it, the ``append`` that keeps a
graph.
"""

from __future__ import annotations

import ast
import dis
import linecache
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any

from whygrad.doctor.source.frames import user_frame
from whygrad.source import Where

__all__ = [
    "assigned",
    "collected",
    "defined",
    "place",
    "raised",
    "set_on",
    "switched_off",
    "turned_off",
]

_OFF = ("no_grad", "inference_mode", "set_grad_enabled")
_COLLECTING = ("add", "append", "appendleft", "extend", "insert", "setdefault")


@lru_cache(maxsize=32)
def _codes(file: str) -> tuple[CodeType, ...]:
    """All code objects of a file; none if it cannot be read or compiled."""
    text = "".join(linecache.getlines(file))
    try:
        found = [compile(text, file, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        return ()
    for code in found:  # grows while it is walked
        found += [each for each in code.co_consts if isinstance(each, CodeType)]
    return tuple(found)


@lru_cache(maxsize=32)
def _tree(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return None


def place(file: str, line: int) -> Where | None:
    """A line of a file."""
    for code in reversed(_codes(file)):
        for each in dis.get_instructions(code):
            if (
                each.positions is not None
                and each.positions.lineno == line
                and each.opname != "RESUME"
            ):
                return Where(code, each.offset)
    return None


def defined(function: Any) -> Where | None:
    """The ``def`` line of a function, decorators aside."""
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    lines = linecache.getlines(code.co_filename)
    for number in range(code.co_firstlineno, min(code.co_firstlineno + 20, len(lines) + 1)):
        if lines[number - 1].lstrip().startswith(("def ", "async def ")):
            return place(code.co_filename, number)
    return Where(code, 0)


def assigned(owner: Any, name: str) -> Where | None:
    """Where a method of ``owner``'s class assigns ``self.name``: in ``__init__`` if it does."""
    kind = type(owner)
    methods = [getattr(kind, "__init__", None), *vars(kind).values()]
    for method in methods:
        code = getattr(method, "__code__", None)
        if isinstance(code, CodeType) and _is_the_users(code):
            for each in dis.get_instructions(code):
                if each.opname == "STORE_ATTR" and each.argval == name:
                    return Where(code, each.offset)
    return None


def _is_the_users(code: CodeType) -> bool:
    return "site-packages" not in code.co_filename and bool(linecache.getlines(code.co_filename))


def set_on(file: str, name: str, owner: str) -> Where | None:
    """The line of a file that says ``….owner.name = …``."""
    tree = _tree(file)
    for node in () if tree is None else ast.walk(tree):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if (
                isinstance(target, ast.Attribute)
                and target.attr == name
                and _last_name(target.value) == owner
            ):
                return place(file, target.lineno)
    return None


def switched_off(where: Where) -> Where | None:
    """The ``with no_grad():`` that a line stands in, or the decorator of its function."""
    tree = _tree(where.file)
    found: list[ast.expr] = []
    for node in () if tree is None else ast.walk(tree):
        inside = isinstance(node, ast.stmt) and node.lineno <= where.line <= (node.end_lineno or 0)
        if isinstance(node, (ast.With, ast.AsyncWith)) and inside:
            found += [item.context_expr for item in node.items]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and inside:
            found += node.decorator_list
    off = [each for each in found if any(word in ast.unparse(each) for word in _OFF)]
    return place(where.file, off[-1].lineno) if off else None


def turned_off(file: str) -> Where | None:
    """The line that says ``set_grad_enabled(False)`` as a statement: nothing switches it back."""
    tree = _tree(file)
    for node in () if tree is None else ast.walk(tree):
        if isinstance(node, ast.Expr) and "set_grad_enabled(False" in ast.unparse(node.value):
            return place(file, node.lineno)
    return None


def collected(file: str, names: list[str]) -> Where | None:
    """The line that puts something into one of the collections with these names."""
    tree = _tree(file)
    for node in () if tree is None else ast.walk(tree):
        if any(_last_name(each) in names for each in _collections(node)):
            return place(file, node.lineno)  # type: ignore[attr-defined]
    return None


def _collections(node: ast.AST) -> Iterator[ast.expr]:
    """What a statement or a call adds something to."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _COLLECTING:
            yield node.func.value
    elif isinstance(node, ast.AugAssign):
        yield node.target
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                yield target.value


def _last_name(node: ast.expr) -> str | None:
    """``history`` of ``self.history``, of ``history`` and of ``log['history']``."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return None


def raised(error: BaseException | None) -> list[Where]:
    """The user's lines that an exception came through, outermost first."""
    found = []
    traceback = None if error is None else error.__traceback__
    while traceback is not None:
        frame = traceback.tb_frame
        if user_frame(frame) is frame and _is_the_users(frame.f_code):
            found.append(Where(frame.f_code, traceback.tb_lasti))
        traceback = traceback.tb_next
    return found
