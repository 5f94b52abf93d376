"""What the text says the program did to its data outside of any engine: loaders and shuffles."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from whygrad.doctor.source.reader import Source, called, covers, names_in, source_of, walked
from whygrad.source import Where

__all__ = [
    "Loader",
    "kept_at",
    "loaders",
    "shuffled_loader",
    "shuffles",
    "shuffles_apart",
    "taken_apart",
]

_SEEDING = ("seed", "manual_seed", "set_state", "setstate", "default_rng", "RandomState", "Random")
_LOADERS = ("DataLoader",)
_PERMUTING = ("permutation", "permuted", "randperm")


class Loader(NamedTuple):
    """A ``DataLoader(…)`` in the text."""

    where: Where
    shuffles: bool  # it says shuffle=True
    samples: bool  # a sampler decides


def loaders(file: str) -> Iterator[Loader]:
    """Every data loader that a file makes."""
    source = source_of(file)
    for call in source.nodes(ast.Call):
        where = source.place(call.lineno)
        if called(call) == "DataLoader" and where is not None:
            given = {each.arg or "": each.value for each in call.keywords}
            flag = given.get("shuffle")
            shuffles = isinstance(flag, ast.Constant) and flag.value is True
            yield Loader(where, shuffles, any(each.endswith("sampler") for each in given))


def shuffled_loader(where: Where) -> Where | None:
    """The loader with shuffle=True that the innermost loop around a place goes through."""
    source = source_of(where)
    shuffled = [each.where for each in loaders(where.file) if each.shuffles]
    for loop in reversed([each for each in source.nodes(ast.For) if covers(each, where.line)]):
        names = names_in(loop.iter)
        for made in source.nodes(ast.Assign):
            targets = {one.id for each in made.targets for one in walked(each, ast.Name)}
            for found in shuffled if targets & names else ():
                if covers(made, found.line):
                    return found
    return None


def kept_at(source: Source, node: ast.expr) -> int | None:
    """The line that makes what is kept as an attribute, or as an entry: ``loaders["test"]``."""
    match node:
        case ast.Subscript(value=held, slice=ast.Constant(value=str(key))):
            entries = [*_entries(source, key)]
            return entries[0] if len(entries) == 1 else _set_at(source, held)
        case ast.Attribute():
            return _set_at(source, node)
    return None


def _entries(source: Source, key: str) -> Iterator[int]:
    """The lines of loaders that are put into a dictionary under a key."""
    for each in source.nodes(ast.Dict):
        for name, value in zip(each.keys, each.values):
            if isinstance(name, ast.Constant) and name.value == key and _calls(value, _LOADERS):
                yield value.lineno
    for made in source.nodes(ast.Assign):
        for target in made.targets:
            entry = target.slice if isinstance(target, ast.Subscript) else None
            if isinstance(entry, ast.Constant) and entry.value == key:
                yield made.lineno


def _set_at(source: Source, held: ast.expr) -> int | None:
    """The only line that makes loaders and gives them this name, or the last part of it."""
    name = held.attr if isinstance(held, ast.Attribute) else getattr(held, "id", None)
    lines = [
        made.lineno
        for made in source.nodes(ast.Assign)
        if _calls(made.value, _LOADERS)
        and name in [getattr(each, "attr", getattr(each, "id", None)) for each in made.targets]
    ]
    return lines[0] if len(lines) == 1 else None


def shuffles(file: str) -> Iterator[tuple[str, Where]]:
    """Every statement that puts a variable into random order: its name, and where."""
    source = source_of(file)
    for each in source.nodes(ast.stmt):
        name, where = _shuffled(each), source.place(each.lineno)
        if name is not None and where is not None:
            yield name, where


def shuffles_apart(file: str) -> tuple[tuple[str, Where], tuple[str, Where]] | None:
    """Two variables that are shuffled one after the other, not seeded alike: names and lines."""
    source = source_of(file)
    for scope in source.nodes(ast.AST):
        found = _first_pair(scope.body) if isinstance(scope, (ast.Module, ast.FunctionDef)) else ()
        places = [(name, where) for name, line in found if (where := source.place(line))]
        if len(places) == 2:
            return places[0], places[1]
    return _by_own_function(source)


def _by_own_function(source: Source) -> tuple[tuple[str, Where], tuple[str, Where]] | None:
    """Two variables that go through a function that draws an order of its own for each."""
    own = {each.name for each in source.nodes(ast.FunctionDef) if _draws_an_order(each)}
    for function in source.nodes(ast.FunctionDef) if own else ():
        found: dict[str, Where] = {}
        for call in walked(function, ast.Call):
            match call:
                case ast.Call(func=ast.Name(id=name), args=[ast.Name(id=given), *_]) if name in own:
                    where = source.place(call.lineno)
                    if where is not None:
                        found.setdefault(given, where)
        if len(found) == 2:
            one, other = sorted(found.items(), key=lambda each: each[1].line)
            return one, other
    return None


def _draws_an_order(function: ast.FunctionDef) -> bool:
    """Whether a function gives back its first argument, taken in a random order drawn inside."""
    orders = {
        ast.unparse(each.targets[0])
        for each in walked(function, ast.Assign)
        if _calls(each.value, _PERMUTING)
    }
    first = function.args.args[0].arg if function.args.args else None
    seeds = any(called(each) in ("seed", "manual_seed") for each in walked(function, ast.Call))
    return not seeds and any(
        isinstance(each.value, ast.Subscript)
        and ast.unparse(each.value.value) == first
        and ast.unparse(each.value.slice) in orders
        for each in walked(function, ast.Return)
    )


def taken_apart(file: str) -> tuple[str, str, Where] | None:
    """``x[order[a:b]]`` beside ``y[a:b]``: the names, and the line of the second."""
    source = source_of(file)
    orders = {
        ast.unparse(each.targets[0])
        for each in source.nodes(ast.Assign)
        if _calls(each.value, _PERMUTING)
    }
    for body in source.blocks():
        ordered: dict[str, str] = {}  # by the slice, what was taken through an order
        plain: list[tuple[str, str, int]] = []
        for statement in body:
            for each in walked(statement, ast.Subscript) if not hasattr(statement, "body") else ():
                match each:
                    case ast.Subscript(
                        ast.Name(id=name), ast.Subscript(ast.Name(id=order), ast.Slice() as part)
                    ) if order in orders:
                        ordered[ast.unparse(part)] = name
                    case ast.Subscript(ast.Name(id=name), ast.Slice() as part) if (
                        name not in orders
                    ):
                        plain.append((ast.unparse(part), name, each.lineno))
        for text, name, line in plain:
            where = source.place(line)
            if text in ordered and where is not None and name not in ordered.values():
                return ordered[text], name, where
    return None


def _first_pair(body: list[ast.stmt]) -> tuple[tuple[str, int], ...]:
    """The first two names in a row of statements that are shuffled without a seed in between."""
    last: tuple[str, int] | None = None
    for statement in body:
        if isinstance(statement, (ast.For, ast.While, ast.If, ast.With)):
            inside = _first_pair(statement.body)
            if inside:
                return inside
            continue
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            continue
        if _calls(statement, _SEEDING):
            last = None
        name = _shuffled(statement)
        if name is not None:
            if last is not None and last[0] != name:
                return last, (name, statement.lineno)
            last = name, statement.lineno
    return ()


def _shuffled(statement: ast.stmt) -> str | None:
    """The variable that a statement puts into random order."""
    match statement:
        case ast.Expr(ast.Call(args=[ast.Name(id=name), *_]) as call) if called(call) == "shuffle":
            return name
        case ast.Assign([ast.Name(), *_], ast.Subscript(ast.Name(id=name), order)):
            return name if _calls(order, _PERMUTING) else None
        case ast.Assign([ast.Name(id=target), *_], ast.Call(args=[ast.Name(id=name), *_]) as call):
            return name if name == target and called(call) in _PERMUTING else None
    return None


def _calls(node: ast.AST, names: tuple[str, ...]) -> bool:
    return any(called(each) in names for each in walked(node, ast.Call))
