"""What the text says about a metric that is summed up over batches: what is added, what divides it.

An accuracy is a count over a count.  The text shows what the values do not: that a count is never
set to zero again, that right answers are divided by batches, that only the last batch counts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from whygrad.doctor.source.reader import Source, called, source_of, walked
from whygrad.source import Where

__all__ = ["Miscount", "miscounts"]

_SIZES = ("size", "numel", "len")
_LOADING = ("enumerate", "tqdm", "iter", "track")  # what is put around what a loop goes through

Loop = ast.For | ast.While
_FIGURE = re.compile(r"loss|err|acc|correct|score|metric|mse|mae", re.IGNORECASE)


@dataclass(frozen=True)
class Miscount:
    """A sum over batches that does not belong to what it is divided by."""

    kind: str  # "kept", "batches", "samples", "last", "compared" or "object"
    name: str  # of the sum
    divisor: str  # as it is written; or what it is compared with, or a sum that is set to zero
    where: Where  # the line to change
    added: Where  # where it is summed up
    divided: Where
    loop: int  # the first line of the loop over batches …
    end: int  # … and the last one


@dataclass
class _Name:
    """One variable of a function."""

    sets: list[tuple[ast.stmt, tuple[Loop, ...], ast.expr]] = field(default_factory=list)
    adds: list[tuple[ast.stmt, tuple[Loop, ...], ast.expr]] = field(default_factory=list)


def miscounts(file: str) -> Iterator[Miscount]:
    """What is counted wrong in a file."""
    source = source_of(file)
    for scope in source.nodes(ast.AST):
        if isinstance(scope, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _Function(source, scope).miscounts()
    for each in source.nodes(ast.ClassDef):
        yield from _kept_by_an_object(source, each)


def _kept_by_an_object(source: Source, of: ast.ClassDef) -> Iterator[Miscount]:
    """Figures that only grow, while another is set to zero by the method that adds it up."""
    zeros: dict[str, set[str]] = {}  # the methods that set an attribute to zero
    adds: dict[str, tuple[str, ast.AugAssign, Loop]] = {}
    for method in of.body:
        if not isinstance(method, ast.FunctionDef):
            continue
        for each in walked(method, ast.Assign):
            for name in map(_own, each.targets):
                zeros.setdefault(name, set()).add(method.name if _is_zero(each.value) else "")
        for loop in walked(method, ast.For):
            for summed in walked(loop, ast.AugAssign):
                name = _own(summed.target)
                if isinstance(summed.op, ast.Add) and _FIGURE.search(name):
                    adds.setdefault(name, (method.name, summed, loop))
    begun = [name for name, (method, *_) in adds.items() if method in zeros.get(name, ())]
    for name, (_, added, around) in adds.items():
        where = source.place(added.lineno)
        if begun and where is not None and zeros.get(name) == {"__init__"}:
            last = around.end_lineno or around.lineno
            yield Miscount(
                "object",
                f"self.{name}",
                f"self.{begun[0]}",
                where,
                where,
                where,
                around.lineno,
                last,
            )


def _own(node: ast.expr) -> str:
    """``x`` of ``self.x``."""
    match node:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name
    return ""


class _Function:
    """The sums and quotients of one function, or of the program's own level."""

    def __init__(
        self, source: Source, scope: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
    ) -> None:
        self._source = source
        self._names: dict[str, _Name] = {}
        self._divisions: list[tuple[ast.stmt, tuple[Loop, ...], str, ast.expr]] = []
        self._comparisons: list[tuple[ast.If, tuple[Loop, ...], str, str]] = []
        self._read(scope.body, ())

    def _read(self, body: list[ast.stmt], loops: tuple[Loop, ...]) -> None:
        for each in body:
            if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            match each:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    added = _added(name, value)
                    known = self._names.setdefault(name, _Name())
                    if added is None:
                        known.sets.append((each, loops, value))
                    else:
                        known.adds.append((each, loops, added))
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=value):
                    values = value.elts if isinstance(value, ast.Tuple) else [value] * len(names)
                    for target, one in zip(names, values):
                        if isinstance(target, ast.Name):
                            self._names.setdefault(target.id, _Name()).sets.append(
                                (each, loops, one)
                            )
                case ast.Assign(targets=targets) if len(targets) > 1:
                    for name in (one.id for one in targets if isinstance(one, ast.Name)):
                        self._names.setdefault(name, _Name()).sets.append((each, loops, each.value))
                case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value):
                    self._names.setdefault(name, _Name()).adds.append((each, loops, value))
                case ast.AugAssign(target=ast.Name(id=name), op=ast.Div(), value=value):
                    self._divisions.append((each, loops, name, value))
            if isinstance(each, ast.If):
                self._read_comparisons(each, loops)
            inner = (*loops, each) if isinstance(each, (ast.For, ast.While)) else loops
            for part in ("body", "orelse", "finalbody"):
                self._read(getattr(each, part, []), inner)
            for handler in getattr(each, "handlers", []):
                self._read(handler.body, inner)
            for expression in ast.iter_child_nodes(each):
                if isinstance(expression, ast.expr):
                    self._read_divisions(each, expression, loops)

    def _read_divisions(
        self, statement: ast.stmt, expression: ast.expr, loops: tuple[Loop, ...]
    ) -> None:
        for each in walked(expression, ast.BinOp):
            if isinstance(each.op, ast.Div):
                for name in walked(each.left, ast.Name):
                    self._divisions.append((statement, loops, name.id, each.right))

    def _read_comparisons(self, statement: ast.If, loops: tuple[Loop, ...]) -> None:
        """``if val_loss < best:``, either way round."""
        for each in walked(statement.test, ast.Compare):
            match each:
                case ast.Compare(left=ast.Name(id=one), comparators=[ast.Name(id=other)]):
                    if isinstance(each.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
                        self._comparisons += [
                            (statement, loops, one, other),
                            (statement, loops, other, one),
                        ]

    def _never_reset(self) -> Iterator[Miscount]:
        """Sums that are compared from epoch to epoch and contain all epochs before."""
        for statement, loops, name, other in self._comparisons:
            known = self._names.get(name)
            if known is None or not _FIGURE.search(name):
                continue
            for added, around, _ in known.adds:
                inner = around[-1] if around else None
                if inner is None or inner in loops or not self._is_kept(known, around, loops):
                    continue
                lines = (known.sets[0][0].lineno, added.lineno, statement.lineno)
                begun, summed, compared = (self._source.place(each) for each in lines)
                if begun is not None and summed is not None and compared is not None:
                    last = inner.end_lineno or inner.lineno
                    yield Miscount(
                        "compared", name, other, begun, summed, compared, inner.lineno, last
                    )

    def miscounts(self) -> Iterator[Miscount]:
        yield from self._never_reset()
        for statement, loops, name, divisor in self._divisions:
            known = self._names.get(name)
            if known is None:
                continue
            found = self._judged(known, loops, divisor)
            if found is None:
                continue
            kind, line, added, inner = found
            changed, summed, divided = (
                self._source.place(each.lineno) for each in (line, added, statement)
            )
            if changed is None or summed is None or divided is None:
                continue
            last, text = inner.end_lineno or inner.lineno, ast.unparse(divisor)
            yield Miscount(kind, name, text, changed, summed, divided, inner.lineno, last)

    def _judged(
        self, known: _Name, loops: tuple[Loop, ...], divisor: ast.expr
    ) -> tuple[str, ast.stmt, ast.stmt, Loop] | None:
        """What is wrong, the statement to change, the one that adds, the loop over batches."""
        for statement, around, value in known.adds:
            kind = self._kind(value, around)
            if kind is None or not around:
                continue
            inner = around[-1]
            again = [each for each in known.sets if inner in each[1]]
            if again and inner not in loops and _is_zero(again[0][2]):
                return "last", again[0][0], statement, inner
            count = self._divides(divisor, inner)
            if self._is_kept(known, around, loops) and count is not None and count != "kept":
                begun = [each[0] for each in known.sets]
                return "kept", begun[0], statement, inner
            if inner in loops:
                continue  # so far
            if count == "last" and kind in ("right", "samples"):
                name = divisor.id if isinstance(divisor, ast.Name) else ""
                return "last", self._names[name].sets[-1][0], statement, inner
            if kind == "right" and count == "batches":
                return "batches", self._division(divisor), statement, inner
            if kind == "mean" and count == "samples":
                return "samples", self._division(divisor), statement, inner
        if not known.adds:
            for statement, around, value in known.sets:
                if not around or around[-1] in loops or self._kind(value, around) != "right":
                    continue
                if self._divides(divisor, around[-1]) in ("samples", "added"):
                    return "last", statement, statement, around[-1]
        return None

    def _division(self, divisor: ast.expr) -> ast.stmt:
        return next(each[0] for each in self._divisions if each[3] is divisor)

    def _is_kept(self, known: _Name, around: tuple[Loop, ...], loops: tuple[Loop, ...]) -> bool:
        """Whether a sum goes on over the rounds of an outer loop that divides it in each."""
        outer = around[0]
        if len(around) < 2 or outer not in loops or not known.sets:
            return False
        return all(outer not in each[1] and _is_zero(each[2]) for each in known.sets)

    def _kind(self, value: ast.expr, around: tuple[Loop, ...], depth: int = 2) -> str | None:
        """What is added: right answers, their mean, a loss; None for anything else."""
        calls = [called(each) for each in walked(value, ast.Call)]
        compares = any(isinstance(each, ast.Eq) for each in ast.walk(value)) or "eq" in calls
        if compares and (
            "mean" in calls or any(isinstance(each, ast.Div) for each in ast.walk(value))
        ):
            return "mean"
        if compares and ("sum" in calls or "count_nonzero" in calls):
            return "right"
        names = [each.id for each in walked(value, ast.Name)]
        if depth:
            for name in names:
                for _, loops, inside in reversed(self._names.get(name, _Name()).sets):
                    if loops[-1:] == around[-1:]:
                        found = self._kind(inside, around, depth - 1)
                        if found in ("mean", "right"):
                            # sum and mean may be taken here of what was compared there
                            return found
                        break
        weighted = any(isinstance(each, ast.Mult) for each in ast.walk(value))
        if any("loss" in name.lower() for name in names) and not weighted:
            return "loss"
        return None

    def _divides(self, divisor: ast.expr, inner: Loop) -> str | None:
        """What a sum is divided by: batches, samples, a count that is kept or added up …"""
        if isinstance(divisor, ast.Constant):
            return "number"
        if isinstance(divisor, ast.BinOp) and isinstance(divisor.op, ast.Add):
            names = [each.id for each in walked(divisor, ast.Name)]
            targets = [each.id for each in walked(getattr(inner, "target", divisor), ast.Name)]
            return "number" if names and set(names) <= set(targets) else None
        if isinstance(divisor, ast.Call) and called(divisor) == "len" and divisor.args:
            held = divisor.args[0]
            if isinstance(inner, ast.For) and ast.unparse(held) == ast.unparse(
                _gone_through(inner)
            ):
                return "batches"
            return "samples"
        if isinstance(divisor, ast.Call) and _is_size(divisor):
            return "samples"
        if not isinstance(divisor, ast.Name):
            return None
        known = self._names.get(divisor.id)
        if known is None:
            return None
        adds = [each for each in known.adds if inner in each[1]]
        if adds:
            begun = all(inner not in each[1] for each in known.sets)
            ones = all(isinstance(each[2], ast.Constant) and each[2].value == 1 for each in adds)
            if not begun:
                return None
            loops = adds[0][1]
            reset = any(loops[0] in each[1] for each in known.sets) or len(loops) < 2
            if not reset:
                return "kept"
            return "batches" if ones else "added"
        sets = [each for each in known.sets if inner in each[1]]
        if sets and any(map(_is_size, (each[2] for each in sets))):
            return "last"
        outside = [each[2] for each in known.sets if inner not in each[1]]
        if len(known.sets) == len(outside) == 1 and isinstance(outside[0], ast.Call):
            return self._divides(outside[0], inner)
        return None


def _added(name: str, value: ast.expr) -> ast.expr | None:
    """``c`` of ``x = x + c``."""
    match value:
        case ast.BinOp(left=ast.Name(id=left), op=ast.Add(), right=added) if left == name:
            return added
    return None


def _is_zero(value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=0 | 0.0):
            return True
        case ast.Call(args=[ast.Constant(value=0 | 0.0), *_]):
            return True  # torch.tensor(0.0)
    return False


def _is_size(value: ast.expr) -> bool:
    """``y.size(0)``, ``len(y)``, ``y.shape[0]``"""
    calls = [called(each) for each in walked(value, ast.Call)]
    shapes = [each.attr for each in walked(value, ast.Attribute)]
    return any(each in _SIZES for each in calls) or "shape" in shapes


def _gone_through(loop: ast.For) -> ast.expr:
    """What a loop goes through, without what counts or shows its rounds."""
    found = loop.iter
    while isinstance(found, ast.Call) and called(found) in _LOADING and found.args:
        found = found.args[0]
    return found
