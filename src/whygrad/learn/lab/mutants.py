"""Small, typical faults put into an engine, one at a time: does the learner's test notice?

Two kinds: a gradient that is overwritten where it should be added to, and a walk in forward order
where it should be reversed.  Only the few characters in question change, so that lines keep their
numbers and a mutant looks like any other engine.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

__all__ = ["Mutant", "mutants"]


@dataclass(frozen=True)
class Mutant:
    """An engine with one fault."""

    kind: Literal["overwrite", "order"]
    line: int
    before: str  # the line as the learner wrote it
    after: str  # the line as it is now
    source: str


_Place = tuple[int, int]  # line, byte in the line
_Replacement = tuple[_Place, _Place, str]


@dataclass(frozen=True)
class _Edit:
    """Some replacements that make one fault, from the first to the last."""

    kind: Literal["overwrite", "order"]
    replacements: tuple[_Replacement, ...]


def mutants(source: str) -> list[Mutant]:
    """Every mutant of a program, in the order of its lines."""
    lines = [line.encode() for line in source.splitlines(keepends=True)]
    edits = {
        edit.replacements: edit
        for node in ast.walk(ast.parse(source))
        for edit in (*_overwriting(node, lines), *_forward(node, source))
    }
    return [_mutant(edits[key], lines) for key in sorted(edits)]


def _overwriting(node: ast.AST, lines: list[bytes]) -> Iterator[_Edit]:
    if isinstance(node, ast.AugAssign) and _is_grad(node.target):
        if isinstance(node.op, ast.Add):
            yield _Edit("overwrite", (_sign(node.target, b"+=", "=", lines),))
        elif isinstance(node.op, ast.Sub):
            end = _end(node)
            negated = (_sign(node.target, b"-= ", "= -(", lines), (end, end, ")"))
            yield _Edit("overwrite", negated)
    elif isinstance(node, ast.Assign):
        targets = {
            ast.unparse(each)
            for target in node.targets
            for each in ast.walk(target)
            if _is_grad(each)
        }
        for each in ast.walk(node.value):
            if isinstance(each, ast.expr) and _is_grad(each) and ast.unparse(each) in targets:
                yield _Edit("overwrite", ((_start(each), _end(each), "0.0"),))


def _sign(target: ast.expr, sign: bytes, other: str, lines: list[bytes]) -> _Replacement:
    """The sign of an assignment: the first after its target, on this line or a later one."""
    line, at = _end(target)
    while (found := lines[line - 1].find(sign.strip(), at)) < 0:
        line, at = line + 1, 0
    length = len(sign) if lines[line - 1].startswith(sign, found) else len(sign.strip())
    return (line, found), (line, found + length), other


def _forward(node: ast.AST, source: str) -> Iterator[_Edit]:
    """Where the nodes are gone through to call their ``_backward``."""
    if isinstance(node, ast.For) and _calls_backward(node.body):
        yield _turned(node.iter, source)
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp)) and _calls_backward([node.elt]):
        yield _turned(node.generators[0].iter, source)
    elif isinstance(node, ast.While) and _calls_backward(node.body):
        for each in (inner for statement in node.body for inner in ast.walk(statement)):
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
                taken = ast.unparse(each.func.value)
                if each.func.attr == "popleft" or (each.func.attr == "pop" and each.args):
                    yield _Edit("order", ((_start(each), _end(each), f"{taken}.pop()"),))
                elif each.func.attr == "pop":
                    yield _Edit("order", ((_start(each), _end(each), f"{taken}.pop(0)"),))


def _turned(walked: ast.expr, source: str) -> _Edit:
    """The other way round, written as a person would have written it."""
    inner: ast.expr | None = None
    if isinstance(walked, ast.Call) and ast.unparse(walked.func) == "reversed":
        inner = walked.args[0]
    elif isinstance(walked, ast.Subscript) and ast.unparse(walked.slice) == "::-1":
        inner = walked.value
    if inner is not None:
        text = ast.get_source_segment(source, inner) or ast.unparse(inner)
    else:
        text = f"list({ast.get_source_segment(source, walked)})[::-1]"
    return _Edit("order", ((_start(walked), _end(walked), text),))


def _is_grad(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "grad"


def _calls_backward(body: list[ast.stmt] | list[ast.expr]) -> bool:
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "_backward"
        for part in body
        for node in ast.walk(part)
    )


def _start(node: ast.expr) -> _Place:
    return node.lineno, node.col_offset


def _end(node: ast.expr | ast.stmt) -> _Place:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.end_lineno, node.end_col_offset


def _mutant(edit: _Edit, lines: list[bytes]) -> Mutant:
    changed = list(lines)
    for (first, begin), (last, finish), text in reversed(edit.replacements):
        whole = changed[first - 1][:begin] + text.encode() + changed[last - 1][finish:]
        # what was several lines stays as many, so that those below keep their numbers
        changed[first - 1 : last] = [whole, *[b"\n"] * (last - first)]
    line = edit.replacements[0][0][0]
    before, after = (each[line - 1].decode().strip() for each in (lines, changed))
    return Mutant(edit.kind, line, before, after, b"".join(changed).decode())
