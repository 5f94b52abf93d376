"""Grades the tables, and the functions that fill them, against the engine itself."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy

import whygrad
from whygrad.dispatch import explain
from whygrad.learn.lab import Bench, Case, Check, Wrong
from whygrad.learn.lab.compare import shown

__all__ = ["grade"]

_STARTER = Path(__file__).parent / "starter" / "predictions.py"
_RELATIONS = ("view", "copy", "itself")
_SAVED = ("none", "input", "output", "both")
# Steps of which random expressions are made.
_STEPS = (
    ".t()", "[1:]", "[:, ::2]", "[:2]", "[-1:]", ".contiguous()", ".clone()", ".detach()",
    "[[0, 1]]", ".to(wg.float64)", ".to(wg.float32)", ".reshape(-1, 2)", ".flatten()[None]",
    ".unsqueeze(0).squeeze(0)", ".expand(3, -1, -1)[0]", ".flip(0)", ".T", ".permute(1, 0)",
)  # fmt: skip
# Over one memory, though no element is common, the first address differs, or there is no base.
_PAIRS = (
    ("x", "x[1:]"), ("x[::2]", "x[1::2]"), ("x[:2]", "x[2:]"), ("x.t()", "x[1]"),
    ("x", "x.detach()"), ("x.detach()", "x[0]"), ("x.clone()", "x"), ("x", "x.contiguous()"),
)  # fmt: skip
_UNARY = (
    "a.exp()", "a.log()", "a.tanh()", "a.sigmoid()", "a.relu()", "a.sqrt()", "a.sin()", "a.abs()",
    "F.gelu(a)", "F.silu(a)", "a.softmax(-1)", "a.log_softmax(-1)", "a.logsumexp(-1)", "a.sum()",
    "a.mean(0)", "a.t()", "a.reshape(-1)", "-a", "a * 3", "a + 3", "a ** 3", "a.amax(1)",
    "a.norm()", "a.cumsum(0)", "a.reciprocal()",
)  # fmt: skip
_BINARY = ("a + b", "a - b", "a * b", "a / b", "a @ b", "a ** b", "wg.maximum(a, b)")
_ARGUMENTS = {
    "f": "wg.ones(2, 2)",
    "d": "wg.ones(2, 2, dtype=wg.float64)",
    "i": "wg.ones(2, 2, dtype=wg.int64)",
    "w": "wg.ones(2, 2, requires_grad=True)",
    "m": 'wg.ones(2, 2, device="meta")',
    "s": "wg.eye(2).to_sparse()",
}


def grade(bench: Bench) -> Iterator[Check]:
    yield bench.check("views", _views)
    yield bench.check("views-asked", _views_asked)
    yield bench.check("saves", _saves)
    yield bench.check("saves-asked", _saves_asked)
    yield bench.check("keys", _keys)
    yield bench.check("keys-asked", _keys_asked)


def _views(bench: Bench) -> None:
    _predicted(bench, "VIEWS", lambda entry: _relation("x", entry, _small()), "think_view")


def _saves(bench: Bench) -> None:
    def truth(entry: str) -> str:
        inputs = [_positive(bench) for name in "ab" if _uses(entry, name)]
        return _saved(entry, inputs, [True] * len(inputs))

    _predicted(bench, "SAVES", truth, "think_save")


def _keys(bench: Bench) -> None:
    for table in ("KEYS", "KEYS_UNDER_NO_GRAD"):
        no_grad = table != "KEYS"
        _predicted(bench, table, lambda entry, no_grad=no_grad: _keys_in(entry, no_grad),
                   "think_key")  # fmt: skip


def _predicted(bench: Bench, table: str, truth: Callable[[str], Any], thought: str) -> None:
    """Every entry of one of the learner's tables; the message names the wrong ones."""
    yours: Mapping[str, Any] = _without_whygrad(bench).ask("predictions", table=table)
    entries = list(_table(table))
    if sorted(yours) != sorted(entries):
        raise Wrong(bench.say("other_entries", table=table))
    if empty := [entry for entry in entries if yours[entry] is None]:
        raise Wrong(bench.say("not_filled_in", table=table, count=len(empty)), notes=empty)
    if wrong := [entry for entry in entries if yours[entry] != truth(entry)]:
        message = bench.say("wrong_entries", table=table, count=len(wrong), total=len(entries))
        notes = [f"{entry}: {shown(yours[entry])}" for entry in wrong]
        raise Wrong(f"{message} {bench.say(thought)}", notes=notes)


def _views_asked(bench: Bench) -> None:
    pairs = [*_PAIRS, *(("x", _random_expression(bench)) for _ in range(30))]
    cases = []
    for first, second in pairs:
        target = _relation(first, second, _large())
        code = (
            "import whygrad as wg\nfrom asking import relation\n\n"
            f"x = wg.arange(24.0).reshape(4, 6)\nprint(relation({first}, {second}))  # {target}"
        )
        inputs = {"first": first, "second": second}
        cases.append(Case(inputs, target, code, size=len(first + second)))
    message = bench.say("relation_wrong", words=", ".join(_RELATIONS))
    bench.compare("relation", cases, message=message)


def _saves_asked(bench: Bench) -> None:
    cases = []
    asked = [(each, [True]) for each in _UNARY]
    asked += [(each, [True, needed]) for each in _BINARY for needed in (True, False)]
    for expression, needs in asked:
        names = [name for name in "ab" if _uses(expression, name)]
        inputs = [_positive(bench) for _ in names]
        target = _saved(expression, inputs, needs)
        function = f"lambda {', '.join(names)}: {expression}"
        lines = [
            f"{name} = wg.tensor({numbers}{', requires_grad=True' if needed else ''})"
            for name, numbers, needed in zip(names, inputs, needs)
        ]
        head = (
            "import whygrad as wg\nimport whygrad.nn.functional as F\nfrom asking import saved_by"
        )
        call = f"print(saved_by({', '.join([function, *names])}))  # {target}"
        code = "\n".join([head, "", *lines, call])
        values = {"function": function, "inputs": inputs, "needs_grad": needs}
        cases.append(Case(values, target, code, size=len(code)))
    bench.compare("saved_by", cases, message=bench.say("saved_wrong", words=", ".join(_SAVED)))


def _keys_asked(bench: Bench) -> None:
    calls = [("wg.mul", "ff"), ("wg.mul", "wf"), ("wg.add", "if"), ("wg.matmul", "sw")]
    pairs = ["".join(each) for each in itertools.product("fdiw", repeat=2)]
    calls += [(name, pair) for name in ("wg.add", "wg.mul", "wg.maximum") for pair in pairs]
    calls += [(name, letter) for name in ("wg.exp", "wg.sum") for letter in "fdwm"]
    calls += [("wg.matmul", "sf")]
    cases = []
    for function, letters in calls:
        arguments = [_ARGUMENTS[letter] for letter in letters]
        for no_grad in (False, True):
            target = _keys_of(function, arguments, no_grad)
            call = f"print(keys_of({', '.join([function, *arguments])}))  # {set(target)}"
            block = f"with wg.no_grad():\n    {call}" if no_grad else call
            code = f"import whygrad as wg\nfrom asking import keys_of\n\n{block}"
            inputs = {"function": function, "arguments": arguments, "no_grad": no_grad}
            cases.append(Case(inputs, target, code, size=len(letters) + 2 * no_grad))
    bench.compare("keys_of", cases, message=bench.say("keys_wrong"))


def _without_whygrad(bench: Bench) -> Bench:
    """The tables are filled in by head; the functions ask."""
    return replace(bench, lab=replace(bench.lab, forbids=("whygrad", "torch", *bench.lab.forbids)))


def _table(name: str) -> dict[str, None]:
    """A table as the learner found it."""
    names: dict[str, Any] = {}
    exec(_STARTER.read_text(encoding="utf-8"), names)
    return names[name]


def _small() -> whygrad.Tensor:
    return whygrad.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def _large() -> whygrad.Tensor:
    return whygrad.arange(24.0).reshape(4, 6)


def _relation(first: str, second: str, x: whygrad.Tensor) -> str:
    names: dict[str, Any] = {"wg": whygrad, "x": x}
    a, b = eval(first, names), eval(second, names)
    if b is a:
        return "itself"
    return "view" if a.untyped_storage() is b.untyped_storage() else "copy"


def _random_expression(bench: Bench) -> str:
    """Two or three steps that can be taken one after the other."""
    while True:
        steps = bench.random.choices(_STEPS, k=bench.random.randint(2, 3))
        expression = "x" + "".join(steps)
        with contextlib.suppress(IndexError, RuntimeError):
            if eval(expression, {"wg": whygrad, "x": _large()}).numel():
                return expression


def _uses(expression: str, name: str) -> bool:
    return name in compile(expression, "", "eval").co_names


def _positive(bench: Bench) -> list[list[float]]:
    """All positive, so that relu returns what it got: a trap for who compares numbers."""
    return [[bench.random.randint(1, 12) / 4 for _ in range(2)] for _ in range(2)]


def _saved(expression: str, inputs: list[list[list[float]]], needs: list[bool]) -> str:
    tensors = [whygrad.tensor(each, requires_grad=needed) for each, needed in zip(inputs, needs)]
    names: dict[str, Any] = {"wg": whygrad, "F": whygrad.nn.functional}
    result = eval(expression, {**names, **dict(zip("ab", tensors))})
    saved = [each for each in result.grad_fn.saved.values() if isinstance(each, numpy.ndarray)]

    def holds(tensor: whygrad.Tensor) -> bool:
        return any(numpy.shares_memory(each, tensor.detach().numpy()) for each in saved)

    from_input, from_output = any(map(holds, tensors)), holds(result)
    return {(False, False): "none", (True, False): "input", (False, True): "output"}.get(
        (from_input, from_output), "both"
    )


def _keys_in(call: str, no_grad: bool) -> list[str]:
    """Of a call such as ``wg.mul(w, f)``."""
    function, _, rest = call.partition("(")
    return _keys_of(function, [_ARGUMENTS[name.strip()] for name in rest[:-1].split(",")], no_grad)


def _keys_of(function: str, arguments: list[str], no_grad: bool) -> list[str]:
    names: dict[str, Any] = {"wg": whygrad}
    with whygrad.no_grad() if no_grad else contextlib.nullcontext():
        explanation = explain(eval(function, names), *(eval(each, names) for each in arguments))
    return sorted({*explanation.keys} - {*explanation.hidden})
