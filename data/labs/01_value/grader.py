"""Grades ``Value`` against whygrad's own, and the learner's test against mutants."""

from __future__ import annotations

import ast
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from whygrad import Value
from whygrad.learn.lab import Bench, Case, Check, Trouble, Wrong
from whygrad.learn.lab.compare import worst
from whygrad.learn.lab.mutants import Mutant, mutants

__all__ = ["grade"]

_OTHER_ENGINE = Path(__file__).with_name("other_engine.py")
_DEPTH = 20_000
_MOST_MUTANTS = 80  # far more than an engine has lines that add to a gradient
_BASIC = (
    "a + b", "a * b", "a ** 3", "a ** 2", "a ** -1",
    "a.exp()", "a.log()", "a.tanh()", "a.sigmoid()", "a.relu()",
)  # fmt: skip
_DERIVED = ("-a", "a - b", "a / b")
_MIXED = ("a + 2", "2 + a", "a * 2", "2 * a", "a - 2", "2 - a", "a / 2", "2 / a")
# Every operation is asked here whatever the seed, as far as it has a value: both signs, 0, 1, more.
_POINTS = ((2.5,), (-0.25,), (-2.0,), (1.0,), (-1.0,), (0.0,), (0.5,))
_PAIRS = ((2.0, -1.5), (-1.5, 2.0), (-1.0, -3.0), (0.0, -2.0), (-2.0, 0.0), (1.0, 0.5))
_WORKED: tuple[tuple[str, dict[str, float]], ...] = (
    ("(x * w + b) ** 2", {"x": 2.0, "w": 3.0, "b": 1.0}),
    ("x * x + x", {"x": 3.0}),
    ("(a + a) * a", {"a": 2.0}),
    ("(a * b + c) * (a - c)", {"a": 2.0, "b": 3.0, "c": 4.0}),
)
# In each, one value is used at different distances from y: there is one right way to go back.
_WALKS = (
    "t = x * c\nu = t * x\ny = t + u",
    "t = x * c\nu = t * x\ny = u + t",
    "t = x + c\nu = t + x\nv = u * t\ny = t + v",
)
# In each, x has received something before the operation in the brackets sends its share.
_WITNESSES = (
    *(f"({form}) * x" for form in ("x + c", "c + x", "x * c", "c * x", "x - c", "c - x", "x / c")),
    *(f"({form}) * x" for form in ("c / x", "-x", "x ** 3", "x ** -1", "x + 2", "2 + x", "x * 2")),
    *(f"({form}) * x" for form in ("2 * x", "x - 2", "2 - x", "x / 2", "2 / x")),
    *(f"x.{name}() * x" for name in ("exp", "log", "tanh", "sigmoid", "relu")),
    "x + x", "x * x", "x - x", "x / x", "(x * c) * (x * c + x)",
)  # fmt: skip


def grade(bench: Bench) -> Iterator[Check]:
    yield bench.check("fields", _fields)
    yield bench.check("operations", _operations)
    yield bench.check("numbers", _numbers)
    yield bench.check("log-domain", _log_domain)
    yield bench.check("order", _order)
    yield bench.check("slopes", _slopes)
    yield bench.check("chain", _chain)
    yield bench.check("worked", _worked)
    yield bench.check("shared", _shared)
    yield bench.check("random", _random)
    yield bench.check("deep", _deep)
    yield bench.check("tests-pass", _tests_pass)
    yield bench.check("tests-catch", _tests_catch)


def _fields(bench: Bench) -> None:
    data = bench.random.randint(2, 9)
    target = {
        "data": float(data),
        "grad": 0.0,
        "len(_prev)": 0,
        "_op": "",
        "callable(_backward)": True,
    }
    code = f"from value import Value\n\nv = Value({data})\nprint(v.data, v.grad, v._prev, v._op)"
    bench.compare("fields", [Case({"data": data}, target, code)])


def _operations(bench: Bench) -> None:
    _forward(bench, (*_BASIC, *_DERIVED))


def _numbers(bench: Bench) -> None:
    _forward(bench, _MIXED)


def _forward(bench: Bench, sources: Sequence[str]) -> None:
    """The result of each operation, and what it left in the graph; nothing goes back yet."""
    cases = []
    asked = [(source, at) for source in sources for at in _corners(source)]
    asked += [(source, _inputs(bench.random, _names(source))) for source in sources]
    for source, inputs in asked:
        target = {
            "type": "Value",
            "data": _reference(source, inputs)["y.data"],
            "new": True,
            "inputs": inputs,
            "has _op": True,
            # a - b and 2 - a may be built from other operations
            "in _prev": sorted(inputs) if source in _BASIC else None,
        }
        code = f"{_program(source, inputs)}print(y, y._prev, y._op)"
        cases.append(Case({"source": _statements(source), "inputs": inputs}, target, code))
    replies = bench.replies("operation", [case.inputs for case in cases])
    for case, reply in zip(cases, replies):
        if reply.trouble is not None:
            reply.trouble.example = case.code
            raise reply.trouble
        if case.target["in _prev"] is None:
            reply.value["in _prev"] = None
        bench.same(case.target, reply.value, code=case.code, printed=reply.printed)


def _log_domain(bench: Bench) -> None:
    for data in (0.0, -1.0, -bench.random.randint(1, 9) / 2):
        inputs = {"a": data}
        code = f"{_program('a.log()', inputs)}# → ValueError"
        case = Case({"source": "y = a.log()", "inputs": inputs}, "ValueError", code)
        bench.compare("refusal", [case], message=bench.say("no_value_error"))


def _order(bench: Bench) -> None:
    """Who has a turn when, whatever the slopes are; values in between, for leaves have no turn."""
    for source in _WALKS:
        inputs = {"x": 2.0, "c": 3.0}
        right = [line[0] for line in reversed(source.split("\n"))]
        turns = "".join(f'("{name}", {name}), ' for name in right).rstrip(", ")
        code = (
            f"{_program(source, inputs)}for name, node in ({turns}):\n"
            "    node._backward = lambda name=name: print(name)\n"
            f"y.backward()  # {' '.join(right)}"
        )
        called = bench.ask("turns", source=source, inputs=inputs, names=right)
        # an engine that keeps its functions elsewhere is judged by its gradients
        if called and called != right:
            orders = {"called": ", ".join(called), "right": ", ".join(right)}
            raise Wrong(bench.say("wrong_order", **orders), example=code, decisive=True)


def _slopes(bench: Bench) -> None:
    sources = (*_BASIC, *_DERIVED)
    cases = [_case(each, bench.random, at) for each in sources for at in _corners(each)]
    cases += [_case(each, bench.random) for each in sources]
    bench.compare("expression", cases)


def _chain(bench: Bench) -> None:
    """Every operation once more, when the gradient that arrives is not 1."""
    sources = (*_BASIC, *_DERIVED, *_MIXED)
    cases = [
        _case(f"({each}) * c", bench.random, {**at, "c": -3.0})
        for each in sources
        for at in _corners(each)
    ]
    cases += [_case(f"({each}) * c", bench.random) for each in sources]
    bench.compare("expression", cases, message=bench.say("not_chained"))


def _worked(bench: Bench) -> None:
    bench.compare("expression", [_case(source, bench.random, at) for source, at in _WORKED])


def _shared(bench: Bench) -> None:
    """Every operation, on a value that is used elsewhere too; then values in between."""
    cases = [_case(each, bench.random) for each in _WITNESSES]
    bench.compare("expression", cases, message=bench.say("not_accumulated"))
    sources = [
        f"t = {inner}\ny = {outer}"
        for inner in ("x * c", "x + c", "x * x")
        for outer in ("t + t * x", "t * x + t", "t * (t + x) * t", "(t + c) * (t * x)")
    ]
    cases = [_case(each, bench.random) for each in sources]
    bench.compare("expression", cases, message=bench.say("order_matters"))


def _random(bench: Bench) -> None:
    cases = []
    for size in (*range(1, 11),) * 4:
        source = ast.unparse(ast.parse(_random_expression(bench.random, size)))
        inputs = _inputs(bench.random, _names(source))
        signed = {name: bench.random.choice((-1, 1)) * data for name, data in inputs.items()}
        case = _case(source, bench.random, signed)
        if all(abs(number) < 1e4 for number in case.target.values()):
            cases.append(Case(case.inputs, case.target, case.code, size=len(source)))
    bench.compare("expression", cases, relative=1e-8, absolute=1e-8)


def _deep(bench: Bench) -> None:
    depth = _DEPTH + bench.random.randint(0, 99)
    target = {"y.data": depth + 1.0, "x.grad": depth + 1.0}
    code = (
        "from value import Value\n\nx = Value(1.0)\ny = x\n"
        f"for _ in range({depth}):\n    y = y + x\ny.backward()\n"
        f"print(y.data, x.grad)  # {depth + 1.0}, {depth + 1.0}"
    )
    bench.compare("chain", [Case({"depth": depth}, target, code)])


def _tests_pass(bench: Bench) -> None:
    _must_pass(bench, "fails_on_yours")
    other = _OTHER_ENGINE.read_text(encoding="utf-8")
    _must_pass(bench.with_files({"value.py": other}), "fails_on_other")


def _tests_catch(bench: Bench) -> None:
    _must_pass(bench, "fails_on_yours")
    found = _faulty(bench)
    if not any(mutant.kind == "overwrite" for mutant in found):
        raise Wrong(bench.say("nothing_to_mutate"))
    survivors = [mutant for mutant in found if not _caught(bench, mutant)]
    if survivors:
        lines = [
            f"value.py:{mutant.line}: {mutant.before}\n  → {mutant.after}"
            for mutant in sorted(survivors, key=lambda mutant: mutant.line)
        ]
        counts = {"survivors": len(survivors), "mutants": len(found)}
        raise Wrong(bench.say("survivors", **counts), notes=lines)


def _must_pass(bench: Bench, complaint: str) -> None:
    results = bench.ask("tests")
    if not results:
        raise Wrong(bench.say("no_tests"))
    for result in results:
        if not result["passed"]:
            where = bench.line("test_value.py", result["line"])
            name, error = result["name"], result["error"]
            raise Wrong(bench.say(complaint, name=name, error=error), where=where)


def _caught(bench: Bench, mutant: Mutant) -> bool:
    try:
        results = bench.with_files({"value.py": mutant.source}).ask("tests")
    except Trouble:
        return True  # it did not even end well
    return not all(result["passed"] for result in results)


def _faulty(bench: Bench) -> list[Mutant]:
    """The mutants that are wrong somewhere: a change that changes nothing need not be caught."""
    # At a point of its own as well: where log x is 0, to overwrite it changes nothing.
    fixed = {"c": 0.75, "x": 2.5}
    cases = [_case(each, bench.random).inputs for each in _WITNESSES]
    cases += [
        _case(each, bench.random, {name: fixed[name] for name in _names(each)}).inputs
        for each in _WITNESSES
    ]
    right = bench.replies("expression", cases)
    found = []
    candidates = mutants(bench.source("value.py"))
    for mutant in bench.random.sample(candidates, min(len(candidates), _MOST_MUTANTS)):
        replies = bench.with_files({"value.py": mutant.source}).replies("expression", cases)
        if any(
            theirs.trouble is not None or worst(ours.value, theirs.value, relative=1e-9)
            for ours, theirs in zip(right, replies)
        ):
            found.append(mutant)
    return found


def _names(source: str) -> list[str]:
    found = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    return sorted(found - {"t", "u", "v", "y"})


def _corners(source: str) -> Iterator[dict[str, float]]:
    """The points where an operation is always asked; not those where it has no value."""
    names = _names(source)
    for point in _POINTS if len(names) == 1 else _PAIRS:
        at = dict(zip(names, point))
        try:
            target = _reference(source, at)
        except (ArithmeticError, ValueError):
            continue
        if all(map(math.isfinite, target.values())):
            yield at


def _inputs(numbers: random.Random, names: list[str]) -> dict[str, float]:
    """Short, distinct, positive numbers: easy to follow by hand, and inside every domain.

    What else an operation must be asked is in :func:`_corners`.
    """
    return dict(zip(names, (each / 4 for each in numbers.sample(range(2, 13), len(names)))))


def _case(source: str, numbers: random.Random, at: Mapping[str, float] | None = None) -> Case:
    inputs = dict(at) if at is not None else _inputs(numbers, _names(source))
    target = _reference(source, inputs)
    grads = ", ".join(f"{name}.grad" for name in inputs)
    results = ", ".join(f"{number:.6g}" for number in target.values())
    code = f"{_program(source, inputs)}y.backward()\nprint(y.data, {grads})  # {results}"
    return Case({"source": _statements(source), "inputs": inputs}, target, code)


def _reference(source: str, inputs: Mapping[str, float]) -> dict[str, float]:
    values = {name: Value(data) for name, data in inputs.items()}
    names: dict[str, Any] = dict(values)
    exec(_statements(source), names)
    names["y"].backward()
    grads = {f"{name}.grad": value.grad for name, value in values.items()}
    return {"y.data": names["y"].data, **grads}


def _statements(source: str) -> str:
    """A program that ends with ``y``, whether an expression or statements were given."""
    return source if source.startswith("t = ") else f"y = {source}"


def _program(source: str, inputs: Mapping[str, float]) -> str:
    lines = [f"{name} = Value({data})" for name, data in inputs.items()]
    return "\n".join(["from value import Value", "", *lines, _statements(source), ""])


def _random_expression(numbers: random.Random, size: int) -> str:
    """An expression with this many operations, defined wherever its inputs are."""
    if size == 0:
        return numbers.choice("abc")
    if numbers.random() < 0.4:
        inner = _random_expression(numbers, size - 1)
        form = numbers.choice(
            ("({}).tanh()", "({}).sigmoid()", "({}).relu()", "-({})", "({}) ** 2",
             "({}).tanh().exp()", "(({}) ** 2 + 1).log()", "3 - ({})", "({}) / 2")
        )  # fmt: skip
        return form.format(inner)
    left = numbers.randrange(size)
    one = _random_expression(numbers, left)
    other = _random_expression(numbers, size - 1 - left)
    forms = ("({}) + ({})", "({}) * ({})", "({}) - ({})", "({}) / (({}) ** 2 + 1)")
    return numbers.choice(forms).format(one, other)
