"""Which side of a comparison comes from the model, as the text tells it.

A small flow of data through one function: from the statement that calls the model, or calls what
does, over assignments and lists that are filled, to the statement that judges.  It has no order, so
that it says rather too much of what comes from the model, or from the loop, than too little.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from whygrad.doctor.source.data import kept_at
from whygrad.doctor.source.reader import called, covers, source_of, walked
from whygrad.recording.judging.looks import Judged
from whygrad.recording.judging.statements import judgings, loop_around
from whygrad.source import Where
from whygrad.why.dataflow import statement_at
from whygrad.why.syntax import parsed

__all__ = ["Flow", "flow_of", "loader_made"]

_Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef
_FILLING = ("append", "extend", "update", "insert")
_LEVELS = 3  # functions that lists are handed through


@dataclass(frozen=True, eq=False)
class Flow:
    """One function of the program, with the statement that calls a model."""

    scope: _Scope
    sides: tuple[ast.expr, ...]  # what is laid beside each other, in the words of this function
    statement: ast.stmt  # that calls the model, or what does
    loop: ast.For | None  # around that statement
    where: Where  # the line of this function that judges, or calls what does
    callee: str = ""  # the name by which the model, or what calls it, is called there

    def of_model(self, side: ast.expr) -> bool:
        return self._carries(side, self._carriers(set(_stored(self.statement))))

    def of_loop(self, side: ast.expr) -> bool:
        """Whether a side is filled or assigned in the loop over batches."""
        seeds = set(_stored(self.statement))
        if self.loop is not None:
            seeds |= _places(self.loop.target)
            for each in _statements(self.loop.body):
                seeds |= set(_stored(each))
        return self._carries(side, self._carriers(seeds))

    def is_left_over(self, side: ast.expr) -> bool:
        """Whether all that a side is read from is assigned in the loop, and nowhere filled."""
        assert self.loop is not None
        inside = [pair for each in _statements(self.loop.body) for pair in _pairs(each)]
        inside += _pairs(self.loop)
        places = _places(side)
        filled = {place for each in self._all if _fills(each) for place in _stored(each)}
        assigned = {place for place, _ in inside}
        outside = [each for each in self._all if not covers(self.loop, each.lineno)]
        again = {place for each in outside for place in _stored(each)}
        return bool(places) and all(
            _meets({each}, assigned) and not _meets({each}, filled | again) for each in places
        )

    def innermost(self) -> str:
        """The head of the innermost loop around the judging statement."""
        around = [each for each in self._loops if covers(each, self.where.line)]
        found = around[-1] if around else None
        if isinstance(found, ast.For):
            return f"{ast.unparse(found.target)} in {ast.unparse(found.iter)}"
        return "" if found is None else ast.unparse(found.test)

    @property
    def _loops(self) -> list[ast.For | ast.While]:
        return [each for each in self._all if isinstance(each, (ast.For, ast.While))]

    def never_emptied(self, side: ast.expr) -> str | None:
        """The list of a side that is filled from epoch to epoch and made before the first one."""
        filled = {place for each in self._all if _fills(each) for place in _stored(each)}
        loops = [each for each in self._loops if covers(each, self.where.line)]
        for place in sorted(_places(side) & filled):
            made = [each for each in self._all if _makes(each, place)]
            inside: list[ast.AST] = [*loops[:1]]
            if not loops and not isinstance(self.scope, ast.Module):
                inside = [self.scope]
            if not inside or any(covers(inside[0], each.lineno) for each in made):
                continue
            if made or self._outlives(place):
                return place
        return None

    def made(self, place: str) -> Where | None:
        """The line that makes a list: in this function, as a default of it, or outside."""
        if place in _parameters(self.scope) and not isinstance(self.scope, ast.Module):
            return source_of(self.where).place(self.scope.lineno)
        everywhere = list(source_of(self.where).nodes(ast.stmt))
        found = [each for each in (*self._all, *everywhere) if _makes(each, place)]
        return source_of(self.where).place(found[0].lineno) if found else None

    def _outlives(self, place: str) -> bool:
        """Whether a list that the function does not make is made once and for all: as a default,
        at the program's own level, or in ``__init__``."""
        if isinstance(self.scope, ast.Module):
            return False
        if place in _parameters(self.scope):
            defaults = dict(zip([each.arg for each in self.scope.args.args][::-1],
                                self.scope.args.defaults[::-1]))  # fmt: skip
            return isinstance(defaults.get(place), ast.List)
        source = source_of(self.where)
        text = [ast.unparse(each.func) for each in source.nodes(ast.Call)]
        made = [each for each in source.nodes(ast.stmt) if _makes(each, place)]
        return len(made) == 1 and f"{place}.clear" not in text

    @cached_property
    def _all(self) -> list[ast.stmt]:
        return list(_statements(self.scope.body))

    def ways(self, side: ast.expr) -> Iterator[ast.expr]:
        """A side, and what the places that it is read from were given before."""
        seen: set[str] = set()
        waiting = [side]
        while waiting:
            node = waiting.pop(0)
            yield node
            for place in sorted(_places(node) - seen):
                seen.add(place)
                given = [value for to, value in self._assigned if _meets({place}, {to})]
                waiting += given or [value for to, value in self._shared if _meets({place}, {to})]

    @cached_property
    def _assigned(self) -> list[tuple[str, ast.expr]]:
        return [pair for each in self._all for pair in _pairs(each)]

    @cached_property
    def _shared(self) -> list[tuple[str, ast.expr]]:
        """What the program's own level gives to its names."""
        body = source_of(self.where).tree.body
        return [pair for each in _statements(body) for pair in _pairs(each)]

    def _carriers(self, seeds: set[str]) -> set[str]:
        found = set(seeds)
        before = -1
        while before != len(found):
            before = len(found)
            found |= {to for to, value in self._assigned if self._carries(value, found)}
        return found

    def _carries(self, node: ast.expr, carriers: set[str]) -> bool:
        calls = [called(each) for each in walked(node, ast.Call)] if self.callee else []
        return self.callee in calls or _meets(_places(node), carriers)


def flow_of(look: Judged) -> Flow | None:
    """The function in which the model, or what calls it, and the judging statement meet."""
    texts = [each.text for each in look.sides]
    here = judgings(source_of(look.where).text).get(look.where.line, ())
    wanted = [each for each in here if each.kind == look.kind and _texts(each.sides) == texts]
    if not wanted:
        return None
    sides, below = wanted[0].sides, None
    for code, instruction in look.callers[:_LEVELS]:
        where = Where(code, instruction)
        scope = _scope(where)
        if below is not None:
            handed = _handed(below, sides, statement_at(where))
            if handed is None:
                return None
            sides = handed
        elif wanted[0].line > where.line:
            where = where.on_line(wanted[0].line) or where
        line = next((one for held, one in look.called if held is code), None)
        statement = None if line is None else statement_at(Where(code, line))
        if line is not None and statement is not None:
            loop = _loop(scope, Where(code, line).line)
            return Flow(scope, sides, statement, loop, where, _callee(Where(code, line)))
        below = scope
    return None


def loader_made(look: Judged) -> Where | None:
    """The line that makes the loader which the model's latest call went through."""
    wanted: ast.expr | None = None
    below: _Scope | None = None
    for code, instruction in look.called:
        where = Where(code, instruction)
        scope = _scope(where)
        if wanted is None:
            around = loop_around(source_of(where).text, where.line)
            wanted = None if around is None or look.gone is None else around[1]
            if around is not None and look.gone is not None and around[0] != look.gone.line:
                wanted = None
        elif below is not None:
            handed = _handed(below, (wanted,), statement_at(where))
            wanted = handed[0] if handed is not None else wanted
        below = scope
        if isinstance(wanted, ast.Name):
            made = _made(scope, wanted.id) or _made(source_of(where).tree, wanted.id)
            if made is not None and wanted.id not in _parameters(scope):
                return source_of(where).place(made.lineno)
        elif wanted is not None:
            line = kept_at(source_of(where), wanted)
            if line is not None:
                return source_of(where).place(line)
    return None


def _made(scope: _Scope, name: str) -> ast.stmt | None:
    """The only statement of a function that assigns a name."""
    found = [each for each in _statements(scope.body) if _makes(each, name)]
    return found[0] if len(found) == 1 else None


def _parameters(scope: _Scope) -> list[str]:
    if isinstance(scope, ast.Module):
        return []
    return [each.arg for each in ast.walk(scope.args) if isinstance(each, ast.arg)]


def _callee(where: Where) -> str:
    """The name that is called at a place."""
    made = next(iter(parsed(where.whole_expression).body), None)
    call = made.value if isinstance(made, ast.Expr) else None
    return called(call) if isinstance(call, ast.Call) else ""


def _texts(sides: tuple[ast.expr, ...]) -> list[str]:
    return [ast.unparse(each) for each in sides]


def _handed(
    below: _Scope, sides: tuple[ast.expr, ...], statement: ast.stmt | None
) -> tuple[ast.expr, ...] | None:
    """What a call hands to a function for the parameters that are its sides."""
    if isinstance(below, ast.Module) or statement is None:
        return None
    call = next((each for each in ast.walk(statement) if isinstance(each, ast.Call)
                 and called(each) == below.name), None)  # fmt: skip
    if call is None:
        return None
    names = [each.arg for each in below.args.args]
    names = names[1:] if names[:1] == ["self"] else names
    given = dict(zip(names, call.args)) | {each.arg: each.value for each in call.keywords}
    found = []
    for side in sides:
        used = sorted(_places(side) & set(names))
        if len(used) != 1 or used[0] not in given:
            return None
        found.append(given[used[0]])
    return tuple(found)


def _scope(where: Where) -> _Scope:
    source = source_of(where)
    found: _Scope = source.tree
    if where.function != "<module>":
        for each in source.nodes(ast.stmt):
            if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found = each if covers(each, where.line) else found
    return found


def _loop(scope: _Scope, line: int) -> ast.For | None:
    found = None
    for each in _statements(scope.body):
        if isinstance(each, ast.For) and covers(each, line):
            found = each
    return found


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a block and of those in it, without functions that are defined there."""
    for each in body:
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        yield each
        for part in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(each, part, []))
        for handler in getattr(each, "handlers", []):
            yield from _statements(handler.body)


def _pairs(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """What a statement gives to which place."""
    match statement:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from ((each, value) for each in _places(target))
        case ast.AugAssign(target=target, value=value):
            yield from ((each, value) for each in _places(target))
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from ((each, value) for each in _places(target))
        case ast.For(target=target, iter=value):
            yield from ((each, value) for each in _places(target))
        case ast.Expr(ast.Call(func=ast.Attribute(value=held, attr=name), args=[*_, value])):
            if name in _FILLING:
                yield from ((each, value) for each in _places(held))


def _fills(statement: ast.stmt) -> bool:
    """Whether a statement adds to something that is there already."""
    return isinstance(statement, (ast.AugAssign, ast.Expr)) and bool(list(_pairs(statement)))


def _makes(statement: ast.stmt, place: str) -> bool:
    return isinstance(statement, (ast.Assign, ast.AnnAssign)) and place in set(_stored(statement))


def _stored(statement: ast.stmt) -> Iterator[str]:
    return (target for target, _ in _pairs(statement))


def _places(node: ast.AST) -> set[str]:
    """Names, attributes and entries that an expression is read from, as they are written."""
    match node:
        case ast.Name(id=name):
            return {name}
        case ast.Attribute(value=inner, attr=name):
            text = ast.unparse(node)
            return {text} if _is_place(inner) else _places(inner)
        case ast.Subscript(value=inner, slice=ast.Constant(value=str())):
            return {ast.unparse(node)} if _is_place(inner) else _places(inner)
        case ast.Call(func=ast.Attribute(value=owner), args=args, keywords=named):
            parts = [owner, *args, *(each.value for each in named)]
            return {place for each in parts for place in _places(each)}
        case ast.Call(args=args, keywords=named):
            parts = [*args, *(each.value for each in named)]
            return {place for each in parts for place in _places(each)}
    return {place for each in ast.iter_child_nodes(node) for place in _places(each)}


def _meets(places: set[str], carriers: set[str]) -> bool:
    """Whether one of the places is a carrier, or a part of one."""
    return any(
        each == known or each.startswith((f"{known}.", f"{known}["))
        for each in places
        for known in carriers
    )


def _is_place(node: ast.expr) -> bool:
    match node:
        case ast.Name():
            return True
        case ast.Attribute(value=inner) | ast.Subscript(value=inner, slice=ast.Constant()):
            return _is_place(inner)
    return False
