"""What the text says about augmentation: of two that belong together, one is moved at random."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from whygrad.doctor.source.reader import called, names_in, source_of, walked
from whygrad.source import Where

__all__ = ["Moved", "has_sides", "moved_alone"]

# What puts the points of a picture or a sequence to other places, in NumPy, PyTorch and PIL.
_MOVES = re.compile(
    r"(random_)?(flip|crop|rotate)|fliplr|flipud|[hv]flip|rot90|roll|affine|resized_crop|mirror"
)
_RANDOM = re.compile(
    r"random|rand|randint|randrange|randn|uniform|choices?|integers|bernoulli|normal|gauss"
    r"|getrandbits|random_sample"
)
_PASSED_ON = ("transform", "augment", "aug", "tfm")  # how a function of this kind is kept
_SIDES = ("left", "right"), ("clockwise", "counterclockwise"), ("cw", "ccw"), ("west", "east")
_Scope = ast.FunctionDef | ast.Module


class Moved(NamedTuple):
    """``image`` is flipped, turned, shifted or cropped at random, and what belongs to it is not."""

    name: str
    others: tuple[str, ...]  # that were bound together with it, and are used behind it as they were
    how: str
    where: Where


def moved_alone(file: str) -> Iterator[Moved]:
    """Every statement that moves one of several things at random, and no other of them."""
    source = source_of(file)
    movers = {
        each.name: line
        for each in source.nodes(ast.FunctionDef)
        if (line := _moves_at(each)) is not None
    }
    scopes: list[_Scope] = [source.tree, *source.nodes(ast.FunctionDef)]
    for scope in scopes:
        drawn = _drawn(scope)
        for statement, guards in _guarded(scope.body, ()):
            name = _assigned(statement)
            how = None if name is None else _move(statement, name, drawn, movers)
            if name is None or how is None:
                continue
            said, by_itself, line = how
            choices = [each for each in guards if _is_random(each.test, drawn)]
            if not by_itself and not choices:
                continue
            others = _left(scope, statement, name, choices, drawn)
            where = source.place(line)
            if others and where is not None:
                yield Moved(name, others, said, where)


def has_sides(file: str) -> bool:
    """Whether classes are named by a direction, which a flip or a turn changes."""
    texts = {str(each.value).lower() for each in source_of(file).nodes(ast.Constant)}
    return any(texts >= {*pair} for pair in _SIDES)


def _guarded(
    body: list[ast.stmt], guards: tuple[ast.If, ...]
) -> Iterator[tuple[ast.stmt, tuple[ast.If, ...]]]:
    """The statements of a scope, each with the conditions that it stands under."""
    for each in body:
        if isinstance(each, (ast.FunctionDef, ast.ClassDef)):
            continue
        yield each, guards
        inner = (*guards, each) if isinstance(each, ast.If) else guards
        for part in ("body", "orelse"):
            yield from _guarded(getattr(each, part, []), inner)


def _assigned(statement: ast.stmt) -> str | None:
    match statement:
        case ast.Assign([ast.Name(id=name) | ast.Subscript(ast.Name(id=name))], _):
            return name
    return None


def _move(
    statement: ast.stmt, name: str, drawn: set[str], movers: dict[str, int]
) -> tuple[str, bool, int] | None:
    """How a statement moves the variable, whether it is itself what does so at random, and where.

    A function that does it for the statement has a line of its own.
    """
    assert isinstance(statement, ast.Assign)
    line = statement.lineno
    for each in walked(statement.value, ast.Call):
        if name not in names_in(each):
            continue
        if called(each) in movers or (movers and _is_passed_on(each, name)):
            return called(each), True, movers.get(called(each), min(movers.values()))
        if _MOVES.fullmatch(called(each)):
            return called(each), _is_random(statement, drawn), line
    for cut in walked(statement.value, ast.Subscript):
        if not isinstance(cut.value, ast.Name) or cut.value.id != name:
            continue
        slices = list(walked(cut.slice, ast.Slice))
        if any(one.step is not None and ast.unparse(one.step) == "-1" for one in slices):
            return "[::-1]", _is_random(statement, drawn), line
        if any(names_in(one) & drawn for one in slices):
            return "a slice at random", True, line
    return None


def _is_passed_on(call: ast.Call, name: str) -> bool:
    """``self.transform(image)``"""
    words = called(call).lower()
    alone = len(call.args) == 1 and isinstance(call.args[0], ast.Name) and call.args[0].id == name
    return alone and any(each in words for each in _PASSED_ON)


def _moves_at(function: ast.FunctionDef) -> int | None:
    """The line where a function of one thing moves it, in some of its calls."""
    given = [each.arg for each in function.args.args if each.arg != "self"]
    if len(given) != 1:
        return None
    drawn = _drawn(function)
    for statement, guards in _guarded(function.body, ()):
        value = statement.value if isinstance(statement, (ast.Return, ast.Assign)) else None
        moved = value is not None and any(
            _MOVES.fullmatch(called(each)) and given[0] in names_in(each)
            for each in walked(value, ast.Call)
        )
        chosen = any(_is_random(each.test, drawn) for each in guards)
        if moved and value is not None and (chosen or _is_random(value, drawn)):
            return statement.lineno
    return None


def _drawn(scope: _Scope) -> set[str]:
    """The variables of a scope that hold numbers drawn at random, or what follows from them."""
    return {
        each.id
        for statement, _ in _guarded(scope.body, ())
        if isinstance(statement, ast.Assign) and not _is_array(statement.value)
        if any(_RANDOM.fullmatch(called(call)) for call in walked(statement.value, ast.Call))
        for target in statement.targets
        for each in walked(target, ast.Name)
    }


def _is_array(value: ast.expr) -> bool:
    """Whether random numbers are only added to something: noise, no choice."""
    return isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Sub, ast.Mult))


def _is_random(node: ast.AST, drawn: set[str]) -> bool:
    calls = any(_RANDOM.fullmatch(called(each)) for each in walked(node, ast.Call))
    return calls or bool(names_in(node) & drawn)


def _left(
    scope: _Scope, move: ast.stmt, name: str, choices: list[ast.If], drawn: set[str]
) -> tuple[str, ...]:
    """What belongs to a variable and is used behind the move without having been moved."""
    decisive = {each for one in (move, *(each.test for each in choices)) for each in names_in(one)}
    decisive &= drawn
    flags = {
        each.id
        for choice in choices
        for each in walked(choice, ast.Name)
        if isinstance(each.ctx, ast.Store)
    } - {name}
    statements = [each for each, _ in _guarded(scope.body, ())]
    behind = [each for each in statements if each.lineno > move.lineno]
    if any(flags & names_in(each) for each in behind if not _inside(choices, each)):
        return ()  # what was done is noted, for the others
    found = []
    for other in _partners(scope, statements, name, move):
        beside = any(other in names_in(each) for each in choices)
        follows = any(
            other in names_in(each) and decisive & names_in(each)
            for each in statements
            if each is not move and not isinstance(each, (ast.For, ast.While, ast.With))
        )
        used = "." in other or any(other in names_in(each) for each in behind)
        if used and not beside and not follows:
            found.append(other)
    return tuple(found)


def _inside(choices: list[ast.If], statement: ast.stmt) -> bool:
    return any(statement is each for choice in choices for each in ast.walk(choice))


def _partners(
    scope: _Scope, statements: list[ast.stmt], name: str, move: ast.stmt
) -> Iterator[str]:
    """The names that were bound together with a variable, before the statement that moves it."""
    groups: list[list[str]] = []
    by_index: dict[str, list[str]] = {}
    if isinstance(scope, ast.FunctionDef):
        groups.append([each.arg for each in scope.args.args if each.arg != "self"])
    for each in statements:
        if each.lineno > move.lineno and isinstance(each, ast.Return):
            for one in walked(each, ast.Subscript):  # return image, self.masks[i]
                if isinstance(one.slice, ast.Name) and isinstance(one.value, ast.Attribute):
                    by_index.setdefault(one.slice.id, []).append(ast.unparse(one.value))
        if each.lineno >= move.lineno:
            continue
        targets = each.targets if isinstance(each, ast.Assign) else []
        targets = [each.target] if isinstance(each, ast.For) else targets
        for target in targets:
            names = [one.id for one in walked(target, ast.Name) if isinstance(one.ctx, ast.Store)]
            if len(names) > 1:
                groups.append(names)
            elif names and isinstance(each, ast.Assign):
                for one in walked(each.value, ast.Subscript):
                    if isinstance(one.slice, ast.Name):
                        by_index.setdefault(one.slice.id, []).append(names[0])
    seen = {name}
    for group in (*groups, *by_index.values()):
        for other in group if name in group else ():
            if other not in seen:
                seen.add(other)
                yield other
