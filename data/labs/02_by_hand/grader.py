"""Grades gradients written by hand: the numbers at one point, the formulas at random ones.

The targets come from ``whygrad.Value``.  Where a variable stands several times, each appearance is
a leaf of its own, so that the engine says what arrives along each path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whygrad import Value
from whygrad.learn.lab import Bench, Case, Check, Wrong
from whygrad.learn.lab.compare import worst
from whygrad.learn.lab.sandbox import Reply

__all__ = ["grade"]

_POINTS = 6
_CORNERS = ((-2, -3, -5), (1, -1, 2), (0, 3, -4), (5, 0, 0))  # always asked: signs, one, zero

Point = Mapping[str, int]


@dataclass(frozen=True)
class Exercise:
    """One expression; its parts are named as in the learner's file."""

    point: Point  # where the numbers are asked for
    program: str  # makes Values of the inputs and ends with backward()
    parts: Mapping[str, str]  # how each part is read off after the program
    mistakes: Mapping[str, Sequence[tuple[str, str]]]  # by part: what to say, the wrong formula


_SQUARE = Exercise(
    point={"x": 2, "w": 3, "b": 1},
    program="X, W, B = map(Value, (x, w, b)); p = X * W; u = p + B; L = u ** 2; L.backward()",
    parts={
        "p": "p.data", "u": "u.data", "L": "L.data", "dL/du": "u.grad", "dL/dp": "p.grad",
        "dL/dx": "X.grad", "dL/dw": "W.grad", "dL/db": "B.grad",
    },
    mistakes={
        "dL/du": [("no_two", "x*w + b")],
        "dL/dx": [
            ("no_inner", "2*(x*w + b)"), ("no_two", "(x*w + b)*w"), ("swapped", "2*(x*w + b)*x"),
        ],
        "dL/dw": [
            ("no_inner", "2*(x*w + b)"), ("no_two", "(x*w + b)*x"), ("swapped", "2*(x*w + b)*w"),
        ],
        "dL/db": [("no_two", "x*w + b"), ("constant", "0"), ("itself", "2*(x*w + b)*b")],
    },
)  # fmt: skip
_POLYNOMIAL = Exercise(
    point={"x": 3},
    program="x1, x2, x3 = map(Value, (x, x, x)); y = x1 * x2 + x3; y.backward()",
    parts={
        "y": "y.data", "dy/dx1": "x1.grad", "dy/dx2": "x2.grad", "dy/dx3": "x3.grad",
        "dy/dx": "x1.grad + x2.grad + x3.grad",
    },
    mistakes={
        "dy/dx3": [("constant", "0"), ("itself", "x")],
        "dy/dx": [("path_lost", "2*x"), ("path_lost", "x + 1"), ("slopes_multiplied", "2")],
    },
)  # fmt: skip
_DOUBLED = Exercise(
    point={"a": 2},
    program="a1, a2, a3 = map(Value, (a, a, a)); y = (a1 + a2) * a3; y.backward()",
    parts={
        "y": "y.data", "dy/da1": "a1.grad", "dy/da2": "a2.grad", "dy/da3": "a3.grad",
        "dy/da": "a1.grad + a2.grad + a3.grad",
    },
    mistakes={
        "dy/da": [("path_lost", "2*a"), ("path_lost", "3*a"), ("slopes_multiplied", "2")],
    },
)  # fmt: skip
_DIAMOND = Exercise(
    point={"a": 2, "b": 3, "c": 4},
    program=(
        "a1, a2, B, c1, c2 = map(Value, (a, a, b, c, c)); "
        "e = a1 * B + c1; f = a2 - c2; L = e * f; L.backward()"
    ),
    parts={
        "e": "e.data", "f": "f.data", "L": "L.data", "dL/de": "e.grad", "dL/df": "f.grad",
        "dL/da1": "a1.grad", "dL/da2": "a2.grad", "dL/da": "a1.grad + a2.grad",
        "dL/db": "B.grad",
        "dL/dc1": "c1.grad", "dL/dc2": "c2.grad", "dL/dc": "c1.grad + c2.grad",
    },
    mistakes={
        "dL/de": [("swapped", "a*b + c")],
        "dL/df": [("swapped", "a - c")],
        "dL/da1": [("no_inner", "a - c"), ("swapped", "(a - c)*a")],
        "dL/da": [("path_lost", "a*b + c"), ("path_lost", "(a - c)*b")],
        "dL/db": [("no_inner", "a - c"), ("swapped", "(a - c)*b")],
        "dL/dc2": [("no_minus", "a*b + c")],
        "dL/dc": [
            ("path_lost", "-(a*b + c)"), ("path_lost", "a - c"), ("no_minus", "a - c + a*b + c"),
        ],
    },
)  # fmt: skip

_TABLES = {
    "SQUARE": _SQUARE,
    "POLYNOMIAL": _POLYNOMIAL,
    "DOUBLED": _DOUBLED,
    "DIAMOND": _DIAMOND,
}
# One part is returned as it is, several in a dict.
_FUNCTIONS: Mapping[str, tuple[Exercise, tuple[str, ...]]] = {
    "square": (_SQUARE, ("dL/dx", "dL/dw", "dL/db")),
    "polynomial": (_POLYNOMIAL, ("dy/dx",)),
    "doubled": (_DOUBLED, ("dy/da",)),
    "diamond_paths": (_DIAMOND, ("dL/da1", "dL/da2", "dL/dc1", "dL/dc2")),
    "diamond": (_DIAMOND, ("dL/da", "dL/db", "dL/dc")),
}


def grade(bench: Bench) -> Iterator[Check]:
    yield bench.check("square-numbers", _numbers("SQUARE"))
    yield bench.check("square", _formulas("square"))
    yield bench.check("twice-numbers", _numbers("POLYNOMIAL", "DOUBLED"))
    yield bench.check("twice", _formulas("polynomial", "doubled"))
    yield bench.check("diamond-numbers", _numbers("DIAMOND"))
    yield bench.check("diamond-paths", _formulas("diamond_paths"))
    yield bench.check("diamond", _formulas("diamond"))
    yield bench.check("by-hand", _by_hand)


def _numbers(*tables: str) -> Callable[[Bench], None]:
    """The first wrong number is the one to talk about: those below it follow from it."""

    def check(bench: Bench) -> None:
        for table in tables:
            exercise = _TABLES[table]
            target, yours = _parts(exercise, exercise.point), bench.ask("numbers", name=table)
            if not isinstance(yours, dict) or yours.keys() != target.keys():
                bench.same(target, yours)
            if missing := [part for part in target if yours[part] is None]:
                raise Wrong(bench.say("not_filled_in", name=table, parts=", ".join(missing)))
            for part in target:
                message = _recognised(bench, exercise, part, [(exercise.point, yours[part])])
                bench.same({part: target[part]}, {part: yours[part]}, message=message)

    return check


def _formulas(*functions: str) -> Callable[[Bench], None]:
    def check(bench: Bench) -> None:
        for function in functions:
            exercise, parts = _FUNCTIONS[function]
            corners: list[Point] = [dict(zip(exercise.point, each)) for each in _CORNERS]
            drawn = [_point(bench, exercise) for _ in range(_POINTS)]
            points = sorted((*corners, *drawn), key=_size)
            cases = [_case(function, point) for point in points]
            replies = bench.replies("formula", [case.inputs for case in cases])
            message = _first_remark(bench, exercise, parts, points, replies)
            for case, reply in zip(cases, replies):
                if reply.trouble is not None:
                    reply.trouble.example = case.code
                    raise reply.trouble
                bench.same(case.target, reply.value, message=message, code=case.code)

    return check


def _first_remark(
    bench: Bench,
    exercise: Exercise,
    parts: Sequence[str],
    points: Sequence[Point],
    replies: Sequence[Reply],
) -> str:
    for part in parts:
        yours = [
            each.value.get(part) if isinstance(each.value, dict) else each.value for each in replies
        ]
        if remark := _recognised(bench, exercise, part, list(zip(points, yours))):
            return remark
    return ""


def _by_hand(bench: Bench) -> None:
    found = bench.ask("more_than_arithmetic")
    if found is not None:
        where = f"by_hand.py:{found['line']}: {found['text']}"
        raise Wrong(bench.say("not_arithmetic"), where=where)


def _recognised(
    bench: Bench, exercise: Exercise, part: str, replies: Sequence[tuple[Point, Any]]
) -> str:
    """What to say of wrong answers if exactly one classic mistake gives all of them."""
    if all(_same(_parts(exercise, point)[part], yours) for point, yours in replies):
        return ""
    found = {
        key
        for key, formula in exercise.mistakes.get(part, ())
        if all(_same(eval(formula, dict(point)), yours) for point, yours in replies)
    }
    return bench.say(found.pop(), part=part) if len(found) == 1 else ""


def _same(one: float, other: Any) -> bool:
    return worst(one, other, relative=1e-9) is None


def _case(function: str, point: Point) -> Case:
    exercise, names = _FUNCTIONS[function]
    parts = _parts(exercise, point)
    target: Any = {part: parts[part] for part in names} if len(names) > 1 else parts[names[0]]
    arguments = ", ".join(f"{name}={number}" for name, number in point.items())
    code = f"from by_hand import {function}\n\nprint({function}({arguments}))"
    return Case({"name": function, "point": dict(point)}, target, code)


def _point(bench: Bench, exercise: Exercise) -> dict[str, int]:
    """Small whole numbers of different sizes: easy to follow, and mistakes seldom coincide."""
    sizes = bench.random.sample(range(2, 10), len(exercise.point))
    return {name: size * bench.random.choice((-1, 1)) for name, size in zip(exercise.point, sizes)}


def _size(point: Point) -> int:
    return sum(map(abs, point.values()))


def _parts(exercise: Exercise, point: Point) -> dict[str, float]:
    names: dict[str, Any] = {"Value": Value, **point}
    exec(exercise.program, names)
    return {part: eval(source, names) for part, source in exercise.parts.items()}
