"""Windows that the text cuts from a series, and targets that it takes from inside of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from whygrad.doctor.source.reader import names_in, source_of, walked
from whygrad.source import Where

__all__ = ["Window", "targets_inside"]

_Sum = dict[str, int]  # how often each term is added; constants under ""
_FOLLOWED = 3  # names that stand for sums of others


class Window(NamedTuple):
    """``series[i:i + w]`` and a target at a place in it."""

    window: str
    target: str
    behind: int  # places from the end of the window: 1 is its last element
    where: Where


def targets_inside(file: str) -> Iterator[Window]:
    """Elements that are taken from inside a window of the same series."""
    source = source_of(file)
    for whole in source.bodies():
        body = [each for each in whole if not isinstance(each, (ast.FunctionDef, ast.ClassDef))]
        meant = {
            target.id: each.value
            for one in body
            for each in walked(one, ast.Assign)
            for target in each.targets
            if isinstance(target, ast.Name)
        }
        taken = [
            (ast.unparse(each.value), _first(each.slice), each)
            for one in body
            for each in walked(one, ast.Subscript)
            if isinstance(each.ctx, ast.Load)
        ]
        for of, cut, node in taken:
            if not isinstance(cut, ast.Slice) or cut.upper is None or cut.step is not None:
                continue
            for other, index, element in taken:
                where = source.place(element.lineno)
                if other != of or isinstance(index, ast.Slice) or where is None:
                    continue
                behind = _constant(_difference(cut.upper, index, meant))
                inside = cut.lower is not None and not names_in(cut.lower).isdisjoint(
                    names_in(index)
                )
                if behind is not None and behind > 0 and (inside or names_in(index)):
                    yield Window(ast.unparse(node), ast.unparse(element), behind, where)


def _first(index: ast.expr) -> ast.expr:
    return index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index


def _difference(one: ast.expr, other: ast.expr, meant: dict[str, ast.expr]) -> _Sum | None:
    sums = [_sum(each, meant, _FOLLOWED) for each in (one, other)]
    if sums[0] is None or sums[1] is None:
        return None
    found = dict(sums[0])
    for term, times in sums[1].items():
        found[term] = found.get(term, 0) - times
    return found


def _constant(found: _Sum | None) -> int | None:
    if found is None or any(times for term, times in found.items() if term):
        return None
    return found.get("", 0)


def _sum(node: ast.expr, meant: dict[str, ast.expr], depth: int) -> _Sum | None:
    """An index as a sum of names and numbers."""
    match node:
        case ast.Constant(value=int(value)):
            return {"": value}
        case ast.Name(id=name) if depth and isinstance(meant.get(name), ast.BinOp):
            return _sum(meant[name], meant, depth - 1)
        case ast.Name() | ast.Attribute():
            return {ast.unparse(node): 1}
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            parts = [_sum(each, meant, depth) for each in (left, right)]
            if parts[0] is None or parts[1] is None:
                return None
            sign, found = (1 if isinstance(op, ast.Add) else -1), dict(parts[0])
            for term, times in parts[1].items():
                found[term] = found.get(term, 0) + sign * times
            return found
    return None
