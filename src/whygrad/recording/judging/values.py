"""What an expression of the program stands for, found out without running any of its code.

Names, parts and a few functions that only rearrange are followed; whatever else it takes is None.
Nothing of the program is kept: the arrays are for the moment of a look.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from whygrad.ops import families as ops
from whygrad.recording.engines import Engine
from whygrad.recording.ranges import Array

__all__ = ["NOTHING", "Values"]

NOTHING: Mapping[str, Any] = {}
_MOST = 200_000  # elements that are looked at
_DEPTH = 6  # calls and parts inside each other

# Functions and methods that give back the same numbers, in the same order.
_SAME = frozenset(
    {
        "array", "asarray", "astype", "contiguous", "cpu", "detach", "double", "float", "int",
        "list", "long", "numpy", "tensor", "to_list", "to_numpy", "tolist",
    }
)  # fmt: skip
_ELEMENTWISE = ops.EXPONENTIALS | ops.LOGARITHMS | ops.STEPS
_ARITHMETIC: dict[type, Callable[..., Any]] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide,
}  # fmt: skip
_ORDERS: dict[type, Callable[..., Any]] = {
    ast.Gt: np.greater, ast.GtE: np.greater_equal, ast.Lt: np.less, ast.LtE: np.less_equal,
}  # fmt: skip


class Values:
    """The variables of one place of the program."""

    def __init__(
        self,
        engine: Engine,
        own: Mapping[str, Any],
        shared: Mapping[str, Any],
        made: Mapping[str, Any] = NOTHING,
    ) -> None:
        """``made``: what functions of the program have given back, by their names."""
        self._engine = engine
        self._made = made
        self._own = own
        self._shared = shared

    def thing(self, node: ast.expr, depth: int = _DEPTH) -> Any:
        """The object that names and attributes lead to; None if they lead nowhere."""
        match node:
            case ast.Name(id=name):
                return self._own.get(name, self._shared.get(name))
            case ast.Attribute(value=inner, attr=name) if depth:
                held = self.thing(inner, depth - 1)
                if name == "values" and _is_table(held):
                    return held
                if _is_table(held):
                    return _column(held, name)
                return getattr(held, "__dict__", {}).get(name)
            case ast.Subscript(value=inner, slice=ast.Constant(value=str(key))) if depth:
                held = self.thing(inner, depth - 1)
                return _column(held, key) if _is_table(held) else _entry(held, key)
        return None

    def array(self, node: ast.expr, depth: int = _DEPTH) -> Array | None:
        """The numbers that an expression stands for."""
        if not depth:
            return None
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in self._made:
                return self._numbers(self._made[name])
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args, keywords=named):
                known = self.array(owner, depth - 1)
                if known is not None:
                    return self._changed(name, known, args, named)
                return self._computed(name, args, named, depth - 1) if args else None
            case ast.Call(func=ast.Name(id=name), args=args, keywords=named) if args:
                return self._computed(name, args, named, depth - 1)
            case ast.Subscript(value=inner, slice=index) if not _is_text(index):
                known, place = self.array(inner, depth - 1), _place(index)
                return None if known is None or place is None else _part(known, place)
            case ast.Compare(left=one, ops=[sign], comparators=[other]):
                return self._combined(_ORDERS.get(type(sign)), one, other, depth - 1)
            case ast.BinOp(left=one, op=sign, right=other):
                return self._combined(_ARITHMETIC.get(type(sign)), one, other, depth - 1)
            case ast.UnaryOp(op=ast.USub(), operand=one):
                known = self.array(one, depth - 1)
                return None if known is None or known.dtype.kind == "b" else -known
        return self._numbers(self.thing(node))

    def _combined(
        self, sign: Callable[..., Any] | None, one: ast.expr, other: ast.expr, depth: int
    ) -> Array | None:
        """What a sign makes of an array and a number, or of two arrays of one shape."""
        sides = [self._operand(each, depth) for each in (one, other)]
        arrays = [each for each in sides if isinstance(each, np.ndarray)]
        if sign is None or not arrays or any(each is None for each in sides):
            return None
        if len({each.shape for each in arrays}) > 1 or any(each.dtype == bool for each in arrays):
            return None
        with np.errstate(all="ignore"):
            found = sign(*sides)
        return found if isinstance(found, np.ndarray) else None

    def _operand(self, node: ast.expr, depth: int) -> Array | float | None:
        held = node.value if isinstance(node, ast.Constant) else self.thing(node)
        if isinstance(held, (int, float, np.number)):
            return float(held)
        return None if isinstance(node, ast.Constant) else self.array(node, depth)

    def number(self, node: ast.expr) -> float | None:
        """The number that an expression stands for; of ``len(x)`` the length of ``x``."""
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[held]):
                return _length(self.thing(held))
            case ast.Name() | ast.Attribute() | ast.Subscript():
                held = self.thing(node)
                return float(held) if isinstance(held, (int, float, np.number)) else None
            case ast.BinOp(left=ast.Constant(value=int() | float()), op=ast.Mult(), right=right):
                return self.number(right)
        return None

    def rounds(self, node: ast.expr) -> float | None:
        """The ``stop`` of ``range(start, stop, step)``: what is gone through in steps."""
        match node:
            case ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=0), stop, _]):
                return self.number(stop)
        return None

    def _computed(
        self, name: str, args: list[ast.expr], named: list[ast.keyword], depth: int
    ) -> Array | None:
        if name in ops.JOINS:
            parts = self.thing(args[0])
            if type(parts) not in (list, tuple) or not parts:
                return None
            arrays = [self._numbers(each) for each in parts]
            known = [each for each in arrays if each is not None and each.ndim]
            whole = len(known) == len(arrays) and sum(each.size for each in known) <= _MOST
            return _joined(name, known) if whole else None
        given = self.array(args[0], depth)
        return None if given is None else self._changed(name, given, args[1:], named)

    def _changed(
        self, name: str, known: Array, args: list[ast.expr], named: list[ast.keyword]
    ) -> Array | None:
        """What a function or a method makes of numbers."""
        if name in ops.FLATTENING:
            return None if args or named else known.ravel()
        if name in _SAME:
            return known
        if name == "squeeze":
            return None if args or named else known.squeeze()
        if name in ops.RESHAPES:
            shape = tuple(_place(each) for each in args)
            return known.reshape(shape) if shape in ((-1,), (-1, 1)) else None
        axes = [*args, *(each.value for each in named if each.arg in ("axis", "dim"))]
        axis = _place(axes[0]) if axes else None
        if name == "argmax" and isinstance(axis, int) and known.ndim > abs(axis):
            return np.argmax(known, axis=axis)
        elementwise = getattr(np, name, None) if name in _ELEMENTWISE and not args else None
        return None if elementwise is None else elementwise(known)

    def _numbers(self, thing: Any) -> Array | None:
        """An array, a column, a list or a tensor, as an array."""
        if isinstance(thing, self._engine.tensor):
            if thing.requires_grad or not 0 < thing.numel() <= _MOST:  # type: ignore[attr-defined]
                return None
            return self._engine.array(thing)
        if _is_table(thing):
            thing = thing.to_numpy()
        if type(thing) in (list, tuple) and 0 < len(thing) <= _MOST:
            if not all(isinstance(each, (int, float, np.number)) for each in thing):
                return None
            thing = np.asarray(thing)
        if type(thing) is not np.ndarray or not 0 < thing.size <= _MOST:
            return None
        return thing if thing.dtype.kind in "fiub" else None


def _joined(name: str, parts: list[Array]) -> Array | None:
    """One behind the other; None if the function would lay them beside each other."""
    flat = all(each.ndim == 1 for each in parts)
    behind = flat if name == "hstack" else "stack" not in name or (name == "vstack" and not flat)
    return np.concatenate(parts) if behind else None


def _is_table(thing: Any) -> bool:
    """Whether something is a frame or a column of pandas."""
    kind = type(thing)
    return kind.__module__.partition(".")[0] == "pandas" and kind.__name__ in (
        "DataFrame",
        "Series",
    )


def _column(table: Any, name: str) -> Any:
    if type(table).__name__ == "DataFrame" and name in table.columns:
        return table[name]
    return None


def _entry(held: Any, key: str) -> Any:
    return held.get(key) if type(held) is dict else None


def _length(thing: Any) -> float | None:
    try:
        return float(len(thing))
    except Exception:  # of the program's own class
        return None


def _is_text(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and isinstance(index.value, str)


def _place(index: ast.expr) -> Any:
    """``1``, ``:``, ``:100`` and ``:, 0``; None for anything that has to be computed."""
    try:
        match index:
            case ast.Tuple(elts=parts):
                found = tuple(_place(each) for each in parts)
                return None if None in found else found
            case ast.Slice(lower=lower, upper=upper, step=step):
                ends = (lower, upper, step)
                return slice(*(None if each is None else ast.literal_eval(each) for each in ends))
        value = ast.literal_eval(index)
    except (ValueError, TypeError):
        return None
    return value if type(value) is int else None


def _part(known: Array, place: Any) -> Array | None:
    try:
        found = known[place]
    except IndexError:
        return None
    return found if isinstance(found, np.ndarray) else None
