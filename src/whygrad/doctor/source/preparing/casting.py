"""Where the text turns fractions into whole numbers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from whygrad.doctor.source.reader import called, source_of, walked
from whygrad.ops.families import EXTREMES, SPREADS
from whygrad.source import Where

__all__ = ["cut_to_whole"]

_WHOLE = re.compile(r"\b(u?int(8|16|32|64)?|long|short|byte)\b")
_CASTS = ("astype", "to", "type", "asarray", "array", "tensor", "uint8", "int8", "int32", "int64")
_METHODS = ("byte", "int", "long", "short")
_LARGE = 16  # a divisor that is no half of a size


def cut_to_whole(file: str) -> Iterator[tuple[str, Where]]:
    """Casts of quotients to whole numbers, and whole divisions by what is no small number."""
    source = source_of(file)
    for node in source.nodes(ast.expr):
        where = source.place(node.lineno)
        if where is not None and (_is_cast(node) or _is_whole_division(node)):
            yield ast.unparse(node), where


def _is_cast(node: ast.expr) -> bool:
    """``(images / 255.0).astype(np.uint8)``"""
    if not isinstance(node, ast.Call):
        return False
    told = " ".join(ast.unparse(each) for each in (*node.args, *(k.value for k in node.keywords)))
    kind = called(node)
    whole = kind in _METHODS or (kind in _CASTS and _WHOLE.search(f"{kind} {told}") is not None)
    given = [node.func.value] if isinstance(node.func, ast.Attribute) else []
    quotients = [
        each
        for one in (*given, *node.args[:1])
        for each in walked(one, ast.BinOp)
        if isinstance(each.op, ast.Div)
    ]
    return whole and bool(quotients)


def _is_whole_division(node: ast.expr) -> bool:
    """``pixels // 255``"""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.FloorDiv):
        return False
    if isinstance(node.right, ast.Constant):
        return isinstance(node.right.value, (int, float)) and node.right.value >= _LARGE
    return any(called(each) in EXTREMES | SPREADS for each in walked(node.right, ast.Call))
