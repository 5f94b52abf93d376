"""Lines of a training loop that make every round begin with the same draw."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.doctor.source.loops import loops_around
from whygrad.doctor.source.reader import called, source_of, walked
from whygrad.source import Where

__all__ = ["begins_anew_at", "stands_still_at"]

_SEEDS = {"manual_seed", "seed", "seed_everything", "set_seed", "default_rng", "RandomState"}


def begins_anew_at(where: Where) -> Where | None:
    """A seed that is set, or a loader that is begun, in each round of the loops around a line.

    In the loop itself, or in a function of the file that it calls.
    """
    source = source_of(where)
    for loop in loops_around(where)[:1]:
        calls = [each for part in loop.node.body for each in walked(part, ast.Call)]
        names = {called(each) for each in calls}
        functions = [each for each in source.nodes(ast.FunctionDef) if each.name in names]
        inside = [each for part in functions for each in walked(part, ast.Call)]
        for call in (*calls, *inside):
            if any(_anew(call)):
                return source.place(call.lineno)
    return None


def stands_still_at(where: Where) -> Where | None:
    """A line that takes a batch by a place which does not move as far as the batch is long.

    ``for i in range(0, n, size)`` whose ``i`` takes nothing, or ``start = step % size``.
    """
    source = source_of(where)
    for loop in loops_around(where)[:1]:
        match loop.node:
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=[_, _, _]) as through):
                if called(through) == "range" and not _takes(loop.node.body, name):
                    cuts = [each for part in loop.node.body for each in walked(part, ast.Slice)]
                    line = cuts[0].upper.lineno if cuts and cuts[0].upper else loop.node.lineno
                    return source.place(line)
    for made in source.nodes(ast.Assign):
        match made:
            case ast.Assign([ast.Name(id=name)], ast.BinOp(op=ast.Mod(), right=size)):
                end = f"{name} + {ast.unparse(size)}"
                cut = [each for each in source.nodes(ast.Slice) if each.upper is not None]
                if any(ast.unparse(each.upper) == end for each in cut if each.upper):
                    return source.place(made.lineno)
    return None


def _takes(body: list[ast.stmt], name: str) -> bool:
    """Whether a variable is used for more than to tell how far a loop is."""
    told = {
        id(each)
        for part in body
        for node in ast.walk(part)
        if isinstance(node, ast.If) or (isinstance(node, ast.Call) and called(node) == "print")
        for each in ast.walk(node.test if isinstance(node, ast.If) else node)
    }
    uses = (each for part in body for each in walked(part, ast.Name) if each.id == name)
    return any(id(each) not in told for each in uses)


def _anew(call: ast.Call) -> Iterator[bool]:
    yield called(call) in _SEEDS
    match call:
        case ast.Call(func=ast.Name(id="next"), args=[ast.Call(func=ast.Name(id="iter")), *_]):
            yield True
