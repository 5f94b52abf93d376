"""Grades finite differences for Values: close, centred, with a graph of its own for every input.

What makes a difference centred is how its error shrinks: with epsilon² and not with epsilon.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from whygrad import Value
from whygrad.learn.lab import Bench, Case, Check, Wrong
from whygrad.learn.lab.compare import worst

__all__ = ["grade"]

_POINTS = (-2.0, 0.5, 3.0)
_LOG_SIGMOID = "x.sigmoid().log()"
_BENT = ("x.exp()", "x ** 3", "1 / x")  # with a third derivative that is nowhere zero
_WRONG_GRADIENT = "x * x.data"  # x.data is a plain number: backward() sees half of the slope
_EPSILON = 1e-5
_LARGE_EPSILON = 0.02
_MUCH_WORSE = 100
_EXACT = 1e-9  # no difference with a large epsilon is that near
_ROUNDING = 1e-12  # an error below this one is luck


def grade(bench: Bench) -> Iterator[Check]:
    yield bench.check("log-sigmoid", _log_sigmoid)
    yield bench.check("slope", _slope)
    yield bench.check("centred", _centred)
    yield bench.check("backward", _backward)
    yield bench.check("compare", _compare)
    yield bench.check("notices", _notices)
    yield bench.check("each-input", _each_input)
    yield bench.check("worse", _worse)


def _log_sigmoid(bench: Bench) -> None:
    cases = []
    for x in _points(bench):
        code = (
            "from differences import Value, log_sigmoid\n\n"
            f"print(log_sigmoid(Value({x})))  # {_value(_LOG_SIGMOID, x):.6g}"
        )
        cases.append(Case({"x": x}, _value(_LOG_SIGMOID, x), code))
    bench.compare("log_sigmoid", cases)


def _slope(bench: Bench) -> None:
    """Generous: a one-sided difference passes, and is told so by the next check."""
    inputs: list[dict[str, Any]] = [{"source": _LOG_SIGMOID, "x": x} for x in _points(bench)]
    for each, yours in zip(inputs, _values(bench, "slope", inputs)):
        target = _gradient(**each)
        message = ""
        for key, factor in (("twice_the_slope", 2), ("half_the_slope", 0.5), ("sign", -1)):
            if _close(factor * target, yours):
                message = bench.say(key)
        bench.same(target, yours, relative=1e-4, message=message, code=_difference_code(**each))


def _centred(bench: Bench) -> None:
    sources = (*_BENT, *_BENT)
    points = [round(bench.random.uniform(0.8, 1.6), 2) for _ in _BENT]
    points += [-1.2] * len(_BENT)
    epsilons = (_LARGE_EPSILON, _LARGE_EPSILON / 2)
    inputs: list[dict[str, Any]] = [
        {"source": source, "x": x, "epsilon": epsilon}
        for source, x in zip(sources, points)
        for epsilon in epsilons
    ]
    replies = _values(bench, "slope", inputs)
    for source, x, *estimates in zip(sources, points, replies[::2], replies[1::2]):
        exact = _gradient(source, x)
        errors = [abs(_number(bench, estimate) - exact) for estimate in estimates]
        ratio = errors[0] / errors[1] if errors[1] else math.inf
        if 3.6 < ratio < 4.4:
            continue
        key = "not_centred"
        if max(errors) < _EXACT:
            key = "exact"
        elif estimates[0] == estimates[1]:
            key = "epsilon_unused"
        elif 1.8 < ratio < 2.2:
            key = "one_sided"
        notes = [_error_line(bench, *each) for each in zip(epsilons, errors)]
        notes += [bench.say("shrank", ratio=f"{ratio:.1f}"), *_where_asked(bench, source, x)]
        raise Wrong(bench.say(key), example=_difference_code(source, x, epsilons), notes=notes)


def _where_asked(bench: Bench, source: str, x: float) -> list[str]:
    inputs = {"source": source, "x": x, "epsilon": _LARGE_EPSILON}
    (asked,) = bench.replies("asked_at", [inputs])
    if not isinstance(asked.value, list) or not 0 < len(asked.value) < 5:
        return []
    points = ", ".join(f"{each:.6g}" for each in asked.value)
    return [bench.say("asked_at", points=points, x=x, epsilon=_LARGE_EPSILON)]


def _backward(bench: Bench) -> None:
    """The same point twice in a row: what is left over from the first time would show."""
    points = [_POINTS[0], *_points(bench)]
    inputs: list[dict[str, Any]] = [
        {"source": source, "points": points} for source in (_LOG_SIGMOID, *_BENT)
    ]
    for each, yours in zip(inputs, _values(bench, "backward", inputs)):
        source = each["source"]
        target = [_gradient(source, x) for x in points]
        code = (
            "from differences import backward_gradient\n\n"
            f"f = lambda x: {source}\n"
            f"print([backward_gradient(f, x) for x in {points[:3]}])"
        )
        bench.same(target, yours, message=_leftover(bench, target, yours), code=code)


def _compare(bench: Bench) -> None:
    """With a large epsilon, whose trace in the numbers shows that it was handed on."""
    points = _points(bench)
    tasks = [(_LOG_SIGMOID, points[:1]), (_LOG_SIGMOID, points), ("x.exp()", points[:3])]
    for (source, points), rows in zip(tasks, _tables(bench, tasks, _LARGE_EPSILON)):
        gradients = [_gradient(source, x) for x in points]
        code = _compare_code(source, points, _LARGE_EPSILON)
        backward, numerical = ([row[key] for row in rows] for key in ("backward", "numerical"))
        message = _leftover(bench, gradients, backward)
        bench.same(gradients, backward, message=message, code=code)
        target = [_difference(source, x, _LARGE_EPSILON) for x in points]
        message = bench.say("epsilon_not_passed") if _near(gradients, numerical) else ""
        bench.same(target, numerical, relative=1e-9, message=message, code=code)


def _notices(bench: Bench) -> None:
    points = _points(bench)
    (rows,) = _tables(bench, [(_WRONG_GRADIENT, points)], _EPSILON)
    target = [abs(x) for x in points]  # 2·x against x
    code = _compare_code(_WRONG_GRADIENT, points[:1], _EPSILON)
    errors = [row["error"] for row in rows]
    bench.same(target, errors, relative=1e-6, message=bench.say("unnoticed"), code=code)


def _tables(
    bench: Bench, tasks: Sequence[tuple[str, Sequence[float]]], epsilon: float
) -> list[list[dict[str, Any]]]:
    """What ``compare`` returns for each function and its points, if it has the right form."""
    inputs: list[dict[str, Any]] = [
        {"source": source, "points": points, "epsilon": epsilon} for source, points in tasks
    ]
    tables = _values(bench, "compare", inputs)
    for (source, points), rows in zip(tasks, tables):
        code = _compare_code(source, points[:1], epsilon)
        if not isinstance(rows, list) or len(rows) != len(points):
            raise Wrong(bench.say("one_row_each", count=len(points)), example=code)
        for x, row in zip(points, rows):
            if not isinstance(row, dict) or row.keys() != {"x", "numerical", "backward", "error"}:
                raise Wrong(bench.say("row_form"), example=code)
            bench.same(x, row["x"], code=code)
            distance = abs(_number(bench, row["numerical"]) - _number(bench, row["backward"]))
            bench.same(distance, row["error"], message=bench.say("error_form"), code=code)
    return tables


def _each_input(bench: Bench) -> None:
    inputs: list[dict[str, Any]] = [
        {"source": source, "inputs": numbers, "epsilon": 1e-4}
        for source, numbers in (
            ("x ** 3", {"x": 2.0}),
            ("x ** 3", {"x": -1.5}),
            ("(a * b + c) * (a - c)", {"a": -2.0, "b": 0.0, "c": 1.0}),
            ("(x * w + b) ** 2", {"x": 2.0, "w": 3.0, "b": 1.0}),
            ("(a * b + c) * (a - c)", {"a": 2.0, "b": 3.0, "c": 4.0}),
            ("(a * b).sigmoid().log() * c + d / a", _numbers(bench, "abcd")),
        )
    ]
    for each, yours in zip(inputs, _values(bench, "each_input", inputs)):
        source, numbers = each["source"], each["inputs"]
        target, values = _gradients(source, numbers), list(numbers.values())
        code = (
            "from differences import each_input\n\n"
            f"f = lambda {', '.join(numbers)}: {source}\n"
            f"print(each_input(f, {values}))  # {', '.join(f'{slope:.6g}' for slope in target)}"
        )
        bench.same(values, yours["inputs"], message=bench.say("inputs_moved"), code=code)
        slopes, together = yours["slopes"], [sum(target)] * len(target)
        message = bench.say("all_at_once") if _close(together, slopes) else ""
        bench.same(target, slopes, relative=1e-5, absolute=1e-6, message=message, code=code)


def _worse(bench: Bench) -> None:
    record = bench.ask("worse")
    if not isinstance(record, dict) or record.keys() != {"x", "epsilon", "error"}:
        raise Wrong(bench.say("worse_form"))
    if missing := [key for key, each in record.items() if each is None]:
        raise Wrong(bench.say("worse_missing", parts=", ".join(missing)))
    x, epsilon = _number(bench, record["x"]), _number(bench, record["epsilon"])
    if not epsilon > 0:
        raise Wrong(bench.say("worse_epsilon"))
    code = _compare_code(_LOG_SIGMOID, [x], epsilon)
    usual, error = _error(x, _EPSILON), _error(x, epsilon)
    if not (math.isfinite(usual) and math.isfinite(error)):
        raise Wrong(bench.say("worse_undefined", x=x, epsilon=epsilon), example=code)
    if error < _MUCH_WORSE * max(usual, _ROUNDING):
        notes = [_error_line(bench, _EPSILON, usual), _error_line(bench, epsilon, error)]
        raise Wrong(bench.say("not_worse", factor=_MUCH_WORSE), notes=notes, example=code)
    # rounding is a little different in every program: theirs may stand for ours
    own = bench.ask("slope", source=_LOG_SIGMOID, x=x, epsilon=epsilon)
    own_error = abs(_number(bench, own) - _gradient(_LOG_SIGMOID, x))
    if worst(own_error, record["error"], relative=0.1) is not None:
        message = bench.say("other_error", epsilon=epsilon)
        bench.same(error, record["error"], relative=0.1, message=message, code=code)


def _points(bench: Bench) -> list[float]:
    """The three of the README, and as many that nobody knows beforehand; none is zero."""
    drawn = [
        round(bench.random.choice((-1, 1)) * bench.random.uniform(0.2, 4), 2) for _ in range(3)
    ]
    return [*_POINTS, *drawn]


def _numbers(bench: Bench, names: str) -> dict[str, float]:
    return {name: round(bench.random.uniform(0.5, 2), 2) for name in names}


def _leftover(bench: Bench, target: Sequence[float], yours: Any) -> str:
    """Said where each gradient is the sum of all up to it."""
    sums = [sum(target[: count + 1]) for count in range(len(target))]
    return bench.say("leftover") if len(target) > 1 and _close(sums, yours) else ""


def _number(bench: Bench, value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):  # an integer beyond all floats
            return float(value)
    raise Wrong(bench.say("no_number", value=repr(value)[:60]))


def _values(bench: Bench, probe: str, inputs: Sequence[Mapping[str, Any]]) -> list[Any]:
    replies = bench.replies(probe, inputs)
    for reply in replies:
        if reply.trouble is not None:
            raise reply.trouble
    return [reply.value for reply in replies]


def _near(target: Any, yours: Any) -> bool:
    """As near as a difference with a small epsilon comes to the gradient."""
    return worst(target, yours, relative=1e-7) is None


def _close(target: Any, yours: Any) -> bool:
    return worst(target, yours, relative=1e-4) is None


def _value(source: str, x: float) -> float:
    return _function(source, "x")(Value(x)).data


def _gradient(source: str, x: float) -> float:
    return _gradients(source, {"x": x})[0]


def _gradients(source: str, inputs: Mapping[str, float]) -> list[float]:
    values = [Value(each) for each in inputs.values()]
    _function(source, *inputs)(*values).backward()
    return [value.grad for value in values]


def _difference(source: str, x: float, epsilon: float) -> float:
    return (_value(source, x + epsilon) - _value(source, x - epsilon)) / (2 * epsilon)


def _error(x: float, epsilon: float) -> float:
    """Of a centred difference of log(sigmoid); infinite where there is none."""
    try:
        return abs(_difference(_LOG_SIGMOID, x, epsilon) - _gradient(_LOG_SIGMOID, x))
    except (ArithmeticError, ValueError):
        return math.inf


def _error_line(bench: Bench, epsilon: float, error: float) -> str:
    return bench.say("error_at", epsilon=epsilon, error=f"{error:.1e}")


def _function(source: str, *names: str) -> Callable[..., Value]:
    return eval(f"lambda {', '.join(names)}: {source}")


def _difference_code(source: str, x: float, epsilons: Sequence[float] = ()) -> str:
    lines = ["from differences import centred_difference", "", f"f = lambda x: {source}"]
    calls = [f"f, {x}, {epsilon}" for epsilon in epsilons] or [f"f, {x}"]
    lines += [f"print(centred_difference({call}))" for call in calls]
    return "\n".join([*lines[:-1], f"{lines[-1]}  # {_gradient(source, x):.6g}"])


def _compare_code(source: str, points: Sequence[float], epsilon: float) -> str:
    return (
        "from differences import compare\n\n"
        f"f = lambda x: {source}\nprint(compare(f, {list(points)}, epsilon={epsilon}))"
    )
