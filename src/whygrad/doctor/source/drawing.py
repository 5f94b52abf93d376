"""Lines of a training loop that make every round begin with the same draw."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.doctor.source.loops import loops_around
from whygrad.doctor.source.reader import called, source_of, walked
from whygrad.source import Where

__all__ = ["begins_anew_at"]

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


def _anew(call: ast.Call) -> Iterator[bool]:
    yield called(call) in _SEEDS
    match call:
        case ast.Call(func=ast.Name(id="next"), args=[ast.Call(func=ast.Name(id="iter")), *_]):
            yield True
