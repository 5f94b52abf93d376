"""Shapes of arrays as the text tells them, and where a reshape only gives axes other names.

A size is a number, or what is written for it.  Arrays that are drawn or filled say their shape, a
stack adds an axis, arithmetic keeps it.  A reshape to the same sizes in another order is never
meant: it reads the same numbers in the same order, and the axes have to be moved.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from whygrad.doctor.source.reader import Source, called, source_of
from whygrad.ops.families import ELEMENTWISE, RESHAPES
from whygrad.source import Where

__all__ = ["Renamed", "renamed_axes"]

Size = int | str
Shape = tuple[Size, ...]

# How NumPy and PyTorch are asked for arrays, and what leaves a shape as it is.
_DRAWN = re.compile(
    r"normal|uniform|integers|randint|standard_normal|random(_sample)?|zeros|ones|empty|full"
)
_SIZES_FIRST = re.compile(r"randn?")
_STACKED = re.compile(r"stack|(as)?array")
_KEPT = re.compile(
    r"astype|copy|(as)?(contiguous)?array|cumsum|roll|gradient|where|clip|from_numpy|(as_)?tensor"
    r"|float(32)?"
)
_DEPTH = 12  # expressions inside each other


class Renamed(NamedTuple):
    """A reshape from one shape to another that has the same sizes in another order."""

    where: Where
    before: Shape
    after: Shape


def renamed_axes(file: str) -> Iterator[Renamed]:
    """Every reshape of an array, whose shape the text tells, to the same sizes in another order."""
    source = source_of(file)
    shared = _Reader(source, {}, {})
    shared.read(source.tree.body)
    yield from shared.found
    for function in source.nodes(ast.FunctionDef):
        given = {each.arg for each in function.args.args}
        own = {name: shape for name, shape in shared.arrays.items() if name not in given}
        inner = _Reader(source, own, shared.numbers)
        inner.read(function.body)
        yield from inner.found


class _Reader:
    """Goes through the statements of a scope in their order."""

    def __init__(self, source: Source, arrays: dict[str, Shape], numbers: dict[str, int]) -> None:
        self._source = source
        self.arrays = dict(arrays)
        self.numbers = dict(numbers)
        self.found: list[Renamed] = []
        self._lists: dict[str, Shape] = {}  # of what is stacked, with how many there are

    def read(self, body: list[ast.stmt]) -> None:
        for each in body:
            match each:
                case ast.FunctionDef() | ast.ClassDef():
                    continue
                case ast.Assign(targets=[target], value=value):
                    self._look(value)
                    self._assign(target, value)
                case ast.Return(value=ast.expr() as value) | ast.Expr(value=value):
                    self._look(value)
            for part in ("body", "orelse"):
                self.read(getattr(each, part, []))

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        match target, value:
            case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
                for one, other in zip(targets, values):
                    self._assign(one, other)
            case ast.Tuple(elts=targets), _:
                for one in targets:
                    self.arrays.pop(ast.unparse(one), None)
                    self.numbers.pop(ast.unparse(one), None)
            case ast.Name(id=name), ast.Constant(value=int(number)):
                self.numbers[name] = number
            case ast.Name(id=name), _:
                shape, several = self._shape(value), self._several(value)
                for kept in (self.arrays, self._lists, self.numbers):
                    kept.pop(name, None)
                if shape is not None:
                    self.arrays[name] = shape
                elif several is not None:
                    self._lists[name] = several

    def _look(self, value: ast.expr) -> None:
        for call in (each for each in ast.walk(value) if isinstance(each, ast.Call)):
            given = _reshaped(call)
            before = None if given is None else self._shape(given[0])
            if given is None or before is None or len(before) < 2:
                continue
            after = self._filled(before, [self._size(each) for each in given[1]])
            where = self._source.place(call.lineno)
            if after is not None and after != before and where is not None and 1 not in before:
                self.found.append(Renamed(where, before, after))

    def _filled(self, before: Shape, after: list[Size]) -> Shape | None:
        """The new shape, if it has the sizes of the old one; -1 is the one that is not told."""
        left = list(before)
        for each in after:
            if each in left:
                left.remove(each)
            elif each != -1:
                return None
        if len(left) > 1 or len(left) != after.count(-1) or len(after) != len(before):
            return None
        return tuple(left[0] if each == -1 else each for each in after)

    def _size(self, node: ast.expr) -> Size:
        match node:
            case ast.Constant(value=int(number)):
                return number
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
                return -1
            case ast.Name(id=name) if name in self.numbers:
                return self.numbers[name]
        return ast.unparse(node)

    def _shape(self, node: ast.expr, depth: int = _DEPTH) -> Shape | None:
        if not depth:
            return None
        match node:
            case ast.Name(id=name):
                return self.arrays.get(name)
            case ast.BinOp(left=left, op=sign, right=right) if not isinstance(sign, ast.MatMult):
                return _together([self._shape(each, depth - 1) for each in (left, right)])
            case ast.UnaryOp(operand=inner):
                return self._shape(inner, depth - 1)
            case ast.Call():
                return self._made(node, depth - 1)
        return None

    def _made(self, call: ast.Call, depth: int) -> Shape | None:
        name, told = called(call), [each for each in call.args if isinstance(each, ast.Tuple)]
        told += [
            each.value
            for each in call.keywords
            if each.arg in ("size", "shape") and isinstance(each.value, ast.Tuple)
        ]
        reshaped = _reshaped(call)
        if reshaped is not None:
            before = self._shape(reshaped[0], depth)
            sizes = [self._size(each) for each in reshaped[1]]
            return self._filled(before, sizes) if before is not None else None
        if _DRAWN.fullmatch(name) and told:
            return tuple(self._size(each) for each in told[-1].elts)
        if _SIZES_FIRST.fullmatch(name) and call.args and not told:
            return tuple(self._size(each) for each in call.args)
        if _STACKED.fullmatch(name) and call.args:
            stacked = self._stacked(call)
            if stacked is not None or name == "stack":
                return stacked
        if _KEPT.fullmatch(name) or name in ELEMENTWISE:
            owner = [call.func.value] if isinstance(call.func, ast.Attribute) else []
            return _together([self._shape(each, depth) for each in (*owner, *call.args)])
        return None

    def _stacked(self, call: ast.Call) -> Shape | None:
        """Arrays one behind the other, along an axis that was not there."""
        parts = self._several(call.args[0])
        if isinstance(call.args[0], ast.Name):
            parts = self._lists.get(call.args[0].id)
        axes = [each.value for each in call.keywords if each.arg in ("axis", "dim")]
        axis = self._size(axes[0] if axes else call.args[1]) if axes or call.args[1:] else 0
        if parts is None or not isinstance(axis, int):
            return None
        count, *sizes = parts
        sizes.insert(axis if axis >= 0 else len(sizes) + 1 + axis, count)
        return tuple(sizes)

    def _several(self, node: ast.expr) -> Shape | None:
        """How many arrays a list has, and the shape of each."""
        match node:
            case ast.List(elts=[first, *_]) | ast.Tuple(elts=[first, *_]):
                shape = self._shape(first)
                return None if shape is None else (len(node.elts), *shape)
            case ast.ListComp(elt=inner, generators=[one]):
                count = self._count(one.iter)
                shape = self._shape(inner)
                return None if shape is None or count is None else (count, *shape)
        return None

    def _count(self, node: ast.expr) -> Size | None:
        match node:
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return len(parts)
            case ast.Call(func=ast.Name(id="range"), args=[stop]):
                return self._size(stop)
        return None


def _together(shapes: list[Shape | None]) -> Shape | None:
    """What arrays are broadcast to; those that are not told are taken for no larger."""
    known = sorted((each for each in shapes if each is not None), key=len)
    if not known:
        return None
    longest = list(known[-1])
    for each in known[:-1]:
        for place, size in enumerate(each, start=len(longest) - len(each)):
            longest[place] = size if longest[place] == 1 else longest[place]
    return tuple(longest)


def _reshaped(call: ast.Call) -> tuple[ast.expr, list[ast.expr]] | None:
    """What is reshaped, and the sizes that it gets."""
    if called(call) not in RESHAPES or not isinstance(call.func, ast.Attribute):
        return None
    held, sizes = call.func.value, list(call.args)
    if isinstance(held, ast.Name) and held.id in ("np", "numpy", "torch") and sizes:
        held, sizes = sizes[0], sizes[1:]
    if len(sizes) == 1 and isinstance(sizes[0], (ast.Tuple, ast.List)):
        sizes = sizes[0].elts
    return (held, sizes) if sizes else None
