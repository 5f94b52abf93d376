"""Which rows a variable has, as far as the text tells: reordered, sorted, filtered, and by what.

Features and labels have the same rows in the same order.  Each statement that changes the rows of a
variable is noted for it; two that are handed on together must have the same notes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from whygrad.doctor.source.reader import called, source_of, walked
from whygrad.ops.families import EXTREMES, SPREADS, TOTALS
from whygrad.source import Where

__all__ = ["Apart", "rows_apart"]

_ORDERS = ("permutation", "permuted", "randperm", "argsort", "choice")  # that give an order …
_RANDOM = ("permutation", "permuted", "randperm", "choice")  # … some of them at random
_SEEDING = ("seed", "manual_seed", "default_rng", "RandomState", "Random")
_SORTS = ("sort", "sorted", "sort_values", "drop_duplicates", "dropna")
_KINDS = ("set", "frozenset", "Counter", "unique", "join")  # what there is, not row by row
_MASKS = ("isnan", "isna", "isnull", "notna", "notnull", "isfinite", "any", "all")
_TOGETHER = ("TensorDataset", "train_test_split", "zip", "DataLoader", "StackDataset")
_SIZES = TOTALS | EXTREMES | SPREADS  # one number for many rows


class _Note(NamedTuple):
    """One change of the rows."""

    key: str  # the same for variables that are changed alike
    line: int
    how: str


@dataclass(frozen=True)
class _Rows:
    """What is known of the rows of a variable."""

    root: str  # the data that they are of
    notes: tuple[_Note, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(each.key for each in self.notes)


_Named = tuple[str, _Rows | None]


class Apart(NamedTuple):
    """Two variables that are handed on together, and whose rows were changed apart."""

    name: str  # that was changed
    other: str
    how: str
    where: Where
    met: Where  # where they are handed on


def rows_apart(file: str) -> Iterator[Apart]:
    """Every pair that is handed on together with different rows."""
    source = source_of(file)
    for body in source.bodies():
        reader = _Reader()
        reader.read(body)
        for one, other, note, line in reader.met:
            where, met = source.place(note.line), source.place(line)
            if where is not None and met is not None:
                yield Apart(one, other, note.how, where, met)


@dataclass
class _Reader:
    """Goes through the statements of a scope in their order."""

    known: dict[str, _Rows] = field(default_factory=dict)
    orders: dict[str, str] = field(default_factory=dict)  # variables that hold orders or masks
    met: list[tuple[str, str, _Note, int]] = field(default_factory=list)
    seed: str = ""  # as it was last set …
    draws: int = 0  # … and what was drawn since

    def read(self, body: list[ast.stmt]) -> None:
        taken: dict[str, _Named] = {}  # by the name of an index, what was first taken by it here
        for each in body:
            if isinstance(each, (ast.FunctionDef, ast.ClassDef)):
                continue
            for call in walked(each, ast.Call) if not hasattr(each, "body") else ():
                if called(call) in _SEEDING:
                    self.seed, self.draws = ast.unparse(call.args[0]) if call.args else "", 0
            for part in ("test", "iter", "value"):
                if isinstance(node := getattr(each, part, None), ast.expr):
                    self._meet(node, taken)
            if isinstance(each, ast.Assign):
                for target in each.targets:
                    self._assign(target, each.value, each.lineno)
            elif isinstance(each, ast.Expr):
                self._in_place(each.value)
            elif isinstance(each, ast.Return) and isinstance(each.value, ast.Tuple):
                # Of more than two it is not known which belong together.
                self._compare(each.value.elts if len(each.value.elts) == 2 else [], each.lineno)
            for part in ("body", "orelse"):
                self.read(getattr(each, part, []))

    def _assign(self, target: ast.expr, value: ast.expr, line: int) -> None:
        match target, value:
            case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
                before = dict(self.known)
                after: dict[str, _Rows] = {}
                for one, other in zip(targets, values):
                    self.known = dict(before)
                    self._assign(one, other, line)
                    after |= {k: v for k, v in self.known.items() if before.get(k) != v}
                self.known = before | after
            case ast.Tuple(elts=[ast.Name(id=name), ast.Name(id=order)]), ast.Call() if (
                called(value) == "sort"
            ):
                self.orders[order] = f"{order}@{line}"
                rows = self._of(value)
                self._note(name, rows, _Note(self.orders[order], line, "sorted"))
            case ast.Tuple(elts=targets), ast.Call(args=arguments):
                self._unpack(targets, value, arguments, line)
            case ast.Name(id=name), _:
                self._assign_name(name, value, line)

    def _unpack(
        self, targets: list[ast.expr], value: ast.Call, arguments: list[ast.expr], line: int
    ) -> None:
        names = [each.id for each in targets if isinstance(each, ast.Name)]
        alike = called(value) == "shuffle" and len(arguments) == len(names)
        for place, name in enumerate(names):
            self.known.pop(name, None)
            if alike:
                rows = self._of(arguments[place])
                self._note(name, rows, _Note(f"shuffle@{line}", line, "shuffled"))
            else:  # what a call gives back together has the same rows
                self.known[name] = _Rows(f"{name}@{line}")

    def _assign_name(self, name: str, value: ast.expr, line: int) -> None:
        self.orders.pop(name, None)
        if self._is_order(value):
            self.orders[name] = f"{name}@{line}"
        # What is drawn from a generator has no order to lose.
        if name in self.orders or (isinstance(value, ast.Call) and called(value) in _SEEDING):
            self.known.pop(name, None)
            return
        if any(called(each) in _KINDS for each in walked(value, ast.Call)):
            self.known[name] = _Rows(f"{name}@{line}")
            return
        rows = self._of(value)
        note = self._change(value, line)
        if rows is None:
            self.known[name] = _Rows(f"{name}@{line}")
            rows = self.known[name] if note is not None else None
        if rows is not None:
            self._note(name, rows, note)

    def _note(self, name: str, rows: _Rows | None, note: _Note | None) -> None:
        rows = rows or _Rows(name)
        self.known[name] = rows if note is None else replace(rows, notes=(*rows.notes, note))

    def _in_place(self, value: ast.expr) -> None:
        """``rng.shuffle(x)``, ``x.sort()``, ``df.dropna(inplace=True)``"""
        match value:
            case ast.Call(args=[ast.Name(id=name), *_]) if called(value) == "shuffle":
                note = _Note(self._drawn(value), value.lineno, "shuffled")
                self._note(name, self.known.get(name), note)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name)), keywords=named) if (
                called(value) in _SORTS
            ):
                inside = called(value) == "sort" or any(each.arg == "inplace" for each in named)
                if inside and name in self.known:
                    note = _Note(f"{called(value)}@{value.lineno}", value.lineno, _said(value))
                    self._note(name, self.known[name], note)

    def _is_order(self, value: ast.expr) -> bool:
        """Whether an expression is an order of rows, or a choice of them."""
        match value:
            case ast.Call() if called(value) in _ORDERS:
                return True
            case ast.Call(func=ast.Attribute(value=inner)):
                return called(value) in _MASKS or self._is_order(inner)
            case ast.UnaryOp(op=ast.Invert()) | ast.Compare():
                return True
            case ast.Subscript(value=ast.Name(id=name)):
                return name in self.orders
        return False

    def _of(self, value: ast.AST) -> _Rows | None:
        """The rows of the first variable that an expression is made from."""
        match value:
            case ast.Call() if called(value) in ("len", *_RANDOM) or called(value) in _SIZES:
                return None
            case ast.Subscript(value=inner, slice=ast.Constant(value=str(column))):
                return self._column(inner, column)
            case ast.Subscript(value=inner, slice=ast.List() | ast.Name() as columns) if (
                isinstance(columns, ast.List) or columns.id not in self.orders
            ):
                return self._column(inner, ast.unparse(columns))
            case ast.Attribute(value=ast.Name(id=name), attr=column) if name in self.known:
                return self._column(value.value, column) if column != "values" else self.known[name]
            case ast.Subscript(value=inner, slice=index):
                looked_up = None if isinstance(index, ast.Slice) else self._of(index)
                # What is looked up in a table has the rows of the index.
                return looked_up if looked_up and looked_up.notes else self._of(inner)
            case ast.Name(id=name):
                return self.known.get(name)
        found = [rows for each in ast.iter_child_nodes(value) if (rows := self._of(each))]
        return next((each for each in found if each.notes), found[0] if found else None)

    def _column(self, inner: ast.expr, column: str) -> _Rows | None:
        rows = self._of(inner)
        return None if rows is None else replace(rows, root=f"{rows.root}.{column}")

    def _change(self, value: ast.expr, line: int) -> _Note | None:
        """How an expression changes the rows of what it is made from."""
        for each in walked(value, ast.Subscript):
            index = each.slice
            index = index.elts[0] if isinstance(index, ast.Tuple) and index.elts else index
            if isinstance(index, ast.Name) and index.id in self.orders:
                return _Note(self.orders[index.id], line, f"taken by `{index.id}`")
            if self._is_order(index) and not isinstance(index, ast.Name):
                draws = [one for one in walked(index, ast.Call) if called(one) in _RANDOM]
                key = self._drawn(draws[0]) if draws else ast.unparse(index)
                return _Note(key, line, f"taken by `{ast.unparse(index)}`")
            if isinstance(each.slice, ast.Slice) and ast.unparse(each.slice) == "::-1":
                return _Note("[::-1]", line, "reversed")
        for call in walked(value, ast.Call):
            if _shuffles(call):
                return _Note(self._drawn(call), line, _said(call))
            if called(call) in _SORTS and not _along_rows(call):
                return _Note(f"{called(call)}@{line}", line, _said(call))
            if called(call) in ("permutation", "permuted") and self._of_first(call) is not None:
                return _Note(self._drawn(call), line, "shuffled")
        return None

    def _drawn(self, call: ast.Call) -> str:
        """What tells one random order from another: with the same seed they are the same."""
        given = [ast.unparse(each.value) for each in call.keywords if each.arg == "random_state"]
        if given and given[0] != "None":
            return f"order of {given[0]}"
        self.draws += 1
        return f"draw {self.draws} of {self.seed}" if self.seed else f"@{call.lineno}"

    def _of_first(self, call: ast.Call) -> _Rows | None:
        return self._of(call.args[0]) if call.args else None

    def _meet(self, node: ast.expr, taken: dict[str, _Named]) -> None:
        """Calls that are given several variables with rows, and those taken by one index."""
        for call in walked(node, ast.Call):
            if called(call) in _TOGETHER or called(call).endswith("Dataset"):
                self._compare(call.args, call.lineno)
        for each in walked(node, ast.Subscript):
            if isinstance(each.value, ast.Name) and isinstance(each.slice, ast.Name):
                now = each.value.id, self._of(each.value)
                self._differ(taken.setdefault(each.slice.id, now), now, node.lineno)

    def _compare(self, values: list[ast.expr], line: int) -> None:
        """Whether expressions that are handed on together are of the same rows."""
        known: list[_Named] = []
        for each in values:
            rows, note = self._of(each), self._change(each, line)
            if rows is not None:
                rows = rows if note is None else replace(rows, notes=(*rows.notes, note))
                known.append((ast.unparse(each), rows))
        for one, other in pairwise(known):
            self._differ(one, other, line)

    def _differ(self, one: _Named, other: _Named, line: int) -> None:
        (name, first), (second_name, second) = one, other
        if first is None or second is None or first.root == second.root:
            return
        alone = {*first.keys} ^ {*second.keys}
        found = [(note, name, second_name) for note in first.notes if note.key in alone]
        found += [(note, second_name, name) for note in second.notes if note.key in alone]
        if found:
            note, changed, kept = max(found, key=lambda each: each[0].line)
            self.met.append((changed, kept, note, line))


def _shuffles(call: ast.Call) -> bool:
    """``df.sample(frac=1)``, and a ``shuffle(x)`` that gives back what it was given."""
    all_rows = any(each.arg == "frac" for each in call.keywords)
    return called(call) == "shuffle" or (called(call) == "sample" and all_rows)


def _along_rows(call: ast.Call) -> bool:
    """``x.sort(1)``: each row by itself, so that the rows stay where they are."""
    given = [*call.args[:1], *(each.value for each in call.keywords if each.arg in ("dim", "axis"))]
    return any(isinstance(each, (ast.Constant, ast.UnaryOp)) and ast.unparse(each) != "0"
               for each in given)  # fmt: skip


def _said(call: ast.Call) -> str:
    return f"changed by {called(call)}()"
