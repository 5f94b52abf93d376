"""The loop around ``backward()``, read from the source: how it was meant to run, and what ends it.

The run knows how many updates there were; only the text of the program knows how many there should
have been.  A ``break`` or ``return`` that stands in the way is found here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from whygrad.doctor.source.reader import covers, names_in, source_of, walked
from whygrad.source import Where
from whygrad.why.dataflow import statement_at

__all__ = [
    "Exit",
    "Loop",
    "exits_of",
    "handed_on",
    "is_loop",
    "is_repeated_with",
    "loops_around",
    "stepped_with",
    "used_after_loop",
]


@dataclass(frozen=True)
class Loop:
    """A ``for`` or ``while`` with the statement of interest inside."""

    node: ast.For | ast.While
    counters: frozenset[str]  # variables that count its rounds
    rounds: int | None  # how many ``range()`` plans, if that is written there


@dataclass(frozen=True)
class Exit:
    """A ``break`` or ``return`` that ends a loop early."""

    line: int
    kind: str  # "break" or "return"
    always: bool  # no condition stands before it
    after: int | None  # the number a counter is compared with


def loops_around(where: Where) -> list[Loop]:
    """The loops of the same function that contain a line, innermost first."""
    tree = source_of(where).tree
    found: list[Loop] = []
    _descend(tree, where.line, found, _constants(tree))
    return found[::-1]


def _descend(node: ast.AST, line: int, found: list[Loop], known: dict[str, int]) -> None:
    for child in ast.iter_child_nodes(node):
        if not hasattr(child, "lineno") or not covers(child, line):
            continue
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            found.clear()  # a loop around the definition is not one around its calls
        if isinstance(child, (ast.For, ast.While)):
            found.append(_as_loop(child, known))
        _descend(child, line, found, known)


def _as_loop(node: ast.For | ast.While, known: dict[str, int]) -> Loop:
    if isinstance(node, ast.While):
        return Loop(node, frozenset(), None)
    counters: set[str] = set()
    rounds = None
    match node.iter, node.target:
        case ast.Call(func=ast.Name(id="range"), args=args), ast.Name(id=counter):
            counters.add(counter)
            rounds = _number(args[0], known) if len(args) == 1 else None
        case ast.Call(func=ast.Name(id="range"), args=[most]), _:
            rounds = _number(most, known)
        case ast.Call(func=ast.Name(id="enumerate")), (
            ast.Name(id=counter) | ast.Tuple(elts=[ast.Name(id=counter), *_])
        ):
            counters.add(counter)
    for each in walked(node, ast.AugAssign):
        match each:
            case ast.AugAssign(target=ast.Name(id=counter), value=ast.Constant(value=1)):
                counters.add(counter)
    return Loop(node, frozenset(counters), rounds)


def exits_of(loop: Loop) -> Iterator[Exit]:
    """What ends a loop early: always, or when a counter reaches a number."""
    yield from _exits(loop.node.body, loop, [], nested=False)


def _exits(body: list[ast.stmt], loop: Loop, tests: list[ast.expr], nested: bool) -> Iterator[Exit]:
    for each in body:
        if isinstance(each, ast.Break) and not nested:
            yield from _judged(each, "break", loop, tests)
        elif isinstance(each, ast.Return):
            yield from _judged(each, "return", loop, tests)
        elif isinstance(each, ast.If):
            yield from _exits(each.body, loop, [*tests, each.test], nested)
        elif isinstance(each, (ast.For, ast.While)):
            # A return in an inner loop ends this one as well, but that loop is asked for itself.
            continue
        elif isinstance(each, (ast.With, ast.Try)):
            yield from _exits(each.body, loop, tests, nested)


def _judged(statement: ast.stmt, kind: str, loop: Loop, tests: list[ast.expr]) -> Iterator[Exit]:
    if not tests:
        yield Exit(statement.lineno, kind, True, None)
    elif len(tests) == 1 and isinstance(tests[0], ast.Compare):
        test = tests[0]
        left, operator, right = test.left, test.ops[0], test.comparators[0]
        counts = isinstance(left, ast.Name) and left.id in loop.counters
        if counts and isinstance(operator, (ast.Eq, ast.Gt, ast.GtE)) and len(test.ops) == 1:
            yield Exit(statement.lineno, kind, False, _number(right, {}))


def used_after_loop(where: Where) -> tuple[int, str] | None:
    """The line, before ``where`` in the same block, that uses what a finished inner loop left over.

    That is a training step that has slipped out of its loop: it sees the last batch only.
    """
    for loop in loops_around(where)[:1]:
        body = loop.node.body
        for place, inner in enumerate(body):
            if not isinstance(inner, ast.For) or covers(inner, where.line):
                continue
            left = names_in(inner.target)
            for later in body[place + 1 :]:
                names = names_in(later)
                shared = sorted(left & names)
                if shared and later.lineno <= where.line:
                    return later.lineno, shared[0]
    return None


def handed_on(where: Where) -> str | None:
    """What a call takes and gives back in each round of a loop: ``h`` of ``y, h = model(x, h)``.

    None if the loop sets it to anything else than what comes of itself.
    """
    statement, loops = statement_at(where), loops_around(where)
    if not isinstance(statement, ast.Assign) or not loops:
        return None
    kept = _targets(statement) & _read(statement.value)
    for name in sorted(kept):
        others = [each for each in walked(loops[0].node, ast.Assign) if name in _targets(each)]
        if all(name in _read(each.value) for each in others):
            return name
    return None


def _targets(statement: ast.Assign) -> set[str]:
    """The variables, and attributes of them, that an assignment sets."""
    return {ast.unparse(each) for target in statement.targets for each in walked(target, ast.expr)
            if isinstance(each, (ast.Name, ast.Attribute))}  # fmt: skip


def _read(value: ast.expr) -> set[str]:
    return {ast.unparse(each) for each in walked(value, ast.expr)
            if isinstance(each, (ast.Name, ast.Attribute))}  # fmt: skip


def is_repeated_with(one: Where, other: Where) -> bool:
    """Whether two lines stand in the body of the same loop."""
    return one.file == other.file and any(
        isinstance(loop, (ast.For, ast.While))
        and loop.lineno < min(one.line, other.line)
        and covers(loop, max(one.line, other.line))
        for loop in source_of(one).nodes(ast.stmt)
    )


def stepped_with(update: Where, made: Where) -> Where | None:
    """Where an object that was ``made`` in one line is stepped in the loop of the updates.

    None if that is the only loop around them: nothing says that its rounds are batches.
    """
    loops = loops_around(update)
    if len(loops) == 1 and update.code is made.code:
        return None
    source = source_of(update)
    names = {
        ast.unparse(target).rpartition(".")[2]
        for each in source_of(made).nodes(ast.Assign)
        if covers(each, made.line)
        for target in each.targets
    }
    for call in walked(loops[0].node, ast.Call) if loops else ():
        match call.func:
            case ast.Attribute(attr="step", value=owner):
                if ast.unparse(owner).rpartition(".")[2] in names:
                    return source.place(call.lineno)
    return None


def is_loop(where: Where) -> bool:
    """Whether a place is the first line of a ``for``."""
    return any(each.lineno == where.line for each in source_of(where).nodes(ast.For))


def _constants(tree: ast.AST) -> dict[str, int]:
    """Names that stand for one whole number in the file."""
    found: dict[str, int] = {}
    for each in walked(tree, ast.Assign):
        match each:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=int(number))):
                found[name] = number
    return found


def _number(node: ast.expr, known: dict[str, int]) -> int | None:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return known.get(node.id) if isinstance(node, ast.Name) else None
