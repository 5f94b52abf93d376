"""Grades predictions against whygrad itself: every program is run here, with fresh numbers.

The programs are the docstrings of the learner's file, read from the lab's own copy of it, so that
what is run is what the learner saw.
"""

from __future__ import annotations

import ast
import contextlib
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import whygrad
from whygrad.learn.lab import Bench, Case, Check, Wrong
from whygrad.learn.lab.compare import shown, worst

__all__ = ["grade"]

Numbers = dict[str, float]

_STARTER = Path(__file__).parent / "starter" / "predictions.py"
_REFUSED, _STOPPED = "error at the write", "error in backward"
_DRAWS = 3
# Short numbers for which no two formulas of interest agree: none is 1, 2 or 4.
_CHOICES = (0.5, 0.75, 1.25, 1.5, 1.75, 2.5, 3.0)
# What the write through .data is in PyTorch: nobody is told.
_OPEN_WRITE, _HIDDEN_WRITE = "h.data.mul_(c)", "h.detach().numpy()[...] *= c"
_STEP = 1e-4


class _Program(NamedTuple):
    name: str
    parameters: tuple[str, ...]
    source: str

    def shown(self, numbers: Numbers) -> str:
        """The program with its numbers, to be pasted."""
        values = [f"{name} = {number}" for name, number in numbers.items()]
        return "\n".join(["import whygrad as wg", "", *values, self.source, "print(x.grad)"])


def grade(bench: Bench) -> Iterator[Check]:
    programs = _programs()
    for number, program in enumerate(programs, 1):
        yield bench.check(f"program-{number}", lambda bench, each=program: _predicted(bench, each))
    yield bench.check("silent", lambda bench: _silent(bench, programs))
    yield bench.check("repair-loud", _repair_loud)
    yield bench.check("repair-silent", _repair_silent)


def _predicted(bench: Bench, program: _Program) -> None:
    draws = [_numbers(bench, program) for _ in range(_DRAWS)]
    cases = [{"program": program.name, "numbers": each} for each in draws]
    for numbers, reply in zip(draws, _without_whygrad(bench).replies("prediction", cases)):
        if reply.trouble is not None:
            raise reply.trouble
        target = _truth(program, numbers)
        if worst(target, reply.value, relative=1e-6, absolute=1e-9) is not None:
            why = bench.say("why_" + program.name.removeprefix("program_"))
            note = bench.say(_reproach(target, reply.value), yours=shown(reply.value))
            raise Wrong(why, notes=[note], example=program.shown(numbers))


def _reproach(target: Any, yours: Any) -> str:
    """What kind of mistake it is; whether a number or an error is right is not said."""
    if isinstance(target, dict) and (not isinstance(yours, dict) or set(target) != set(yours)):
        return "not_two"
    parts = list(yours.values()) if isinstance(yours, dict) else [yours]
    if not all(each in (_REFUSED, _STOPPED) or _is_gradient(each) for each in parts):
        return "no_prediction"
    if _is_gradient(target) and _is_gradient(yours):
        return "other_number"
    return "other_end"


def _is_gradient(value: Any) -> bool:
    values = value if isinstance(value, list) else [value]
    return all(isinstance(each, (int, float)) for each in values)


def _silent(bench: Bench, programs: list[_Program]) -> None:
    yours = set(map(str, _without_whygrad(bench).ask("silent")))
    names = {program.name for program in programs}
    if unknown := yours - names:
        raise Wrong(bench.say("unknown_program", names=", ".join(sorted(unknown))))
    right = {program.name for program in programs if _is_silently_wrong(bench, program)}
    if yours != right:
        counts = {"extra": len(yours - right), "missing": len(right - yours)}
        raise Wrong(bench.say("silent_wrong", **counts))


def _repair_loud(bench: Bench) -> None:
    cases = []
    for size in (1, 1, 2, 3):
        x = _draw(bench, size)
        (k,) = _draw(bench, 1)
        target = {
            "y": sum(each**2 for each in x),
            "x": [each - k * each for each in x],
            "x.grad": [2 * each for each in x],
        }
        call = f"y = decayed(x, {k})\nprint(y, x, x.grad)"
        cases.append(Case({"x": x, "k": k}, target, _paste("decayed", x, call), size))
    bench.compare("decayed", cases, message=bench.say("not_repaired"))


def _repair_silent(bench: Bench) -> None:
    cases = []
    for size in (1, 1, 2, 3):
        x = _draw(bench, size)
        k, c = _draw(bench, 2)
        target = {
            "y": sum((each * k * c) ** 2 for each in x),
            "x": x,
            "x.grad": [2 * each * (k * c) ** 2 for each in x],
        }
        call = f"y = scaled(x, {k}, {c})\ny.backward()\nprint(y, x, x.grad)"
        cases.append(Case({"x": x, "k": k, "c": c}, target, _paste("scaled", x, call), size))
    bench.compare("scaled", cases, message=bench.say("not_repaired"))


def _paste(function: str, x: list[float], call: str) -> str:
    imports = f"import whygrad as wg\nfrom repairs import {function}\n\n"
    return f"{imports}x = wg.tensor({x}, requires_grad=True)\n{call}"


def _without_whygrad(bench: Bench) -> Bench:
    """Predictions are made before the engine is asked, and so without it."""
    return replace(bench, lab=replace(bench.lab, forbids=("whygrad", "torch", *bench.lab.forbids)))


def _programs() -> list[_Program]:
    tree = ast.parse(_STARTER.read_text(encoding="utf-8"))
    return [
        _Program(
            node.name,
            tuple(each.arg for each in node.args.args),
            textwrap.dedent(ast.get_docstring(node, clean=False) or "").strip(),
        )
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    ]


def _draw(bench: Bench, count: int) -> list[float]:
    return bench.random.sample(_CHOICES, count)


def _numbers(bench: Bench, program: _Program) -> Numbers:
    return dict(zip(program.parameters, _draw(bench, len(program.parameters))))


def _truth(program: _Program, numbers: Numbers) -> Any:
    """What running the program gives; of the last one, in both engines."""
    outcome = _outcome(program.source, numbers)
    hidden = _outcome(program.source.replace(_OPEN_WRITE, _HIDDEN_WRITE), numbers)
    return outcome if outcome == hidden else {"pytorch": hidden, "whygrad": outcome}


def _outcome(source: str, numbers: Numbers) -> Any:
    try:
        return _run(source, numbers)["x"].grad.tolist()
    except RuntimeError as error:
        trace, line = error.__traceback__, 0
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == "<program>":
                line = trace.tb_lineno
            trace = trace.tb_next
        return _STOPPED if ".backward()" in source.splitlines()[line - 1] else _REFUSED


def _is_silently_wrong(bench: Bench, program: _Program) -> bool:
    """Whether a gradient comes out that finite differences of the loss contradict."""
    numbers = _numbers(bench, program)
    source = program.source.replace(_OPEN_WRITE, _HIDDEN_WRITE)
    gradient = _outcome(source, numbers)
    if isinstance(gradient, str):
        return False
    inputs = [name for name in ("a", "b") if name in numbers]
    slopes = [_slope(source, numbers, name) for name in inputs]
    claimed = gradient if isinstance(gradient, list) else [gradient]
    return worst(slopes, claimed, relative=1e-4, absolute=1e-4) is not None


def _slope(source: str, numbers: Numbers, name: str) -> float:
    def loss(step: float) -> float:
        return _run(source, {**numbers, name: numbers[name] + step})["y"].item()

    return (loss(_STEP) - loss(-_STEP)) / (2 * _STEP)


def _run(source: str, numbers: Mapping[str, float]) -> dict[str, Any]:
    names: dict[str, Any] = {"wg": whygrad, **numbers}
    with _in_float64():
        exec(compile(source, "<program>", "exec"), names)
    return names


@contextlib.contextmanager
def _in_float64() -> Iterator[None]:
    before = whygrad.get_default_dtype()
    whygrad.set_default_dtype(whygrad.float64)
    try:
        yield
    finally:
        whygrad.set_default_dtype(before)
