"""Grades predictions by measuring, and the run in segments by what it computes, calls and holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import whygrad
from whygrad.autograd.graph import saved_bytes_peak
from whygrad.learn.lab import Bench, Case, Check, Wrong
from whygrad.learn.lab.compare import shown
from whygrad.random import fork_rng
from whygrad.utils.checkpoint import checkpoint_sequential

__all__ = ["grade"]

_ROWS = {"plain": 1, "6 segments": 6, "36 segments": 36}
_BATCH, _WIDTH = 2, 3


def grade(bench: Bench) -> Iterator[Check]:
    yield bench.check("table", _table)
    yield bench.check("calls", _calls)
    yield bench.check("peak", _peak)
    yield bench.check("extra", _extra)
    yield bench.check("gradients", _gradients)
    yield bench.check("segments", _segments)
    yield bench.check("memory", _memory)
    yield bench.check("dropout", _dropout)
    yield bench.check("best", _best)
    yield bench.check("budget", _budget)


def _table(bench: Bench) -> None:
    yours = _without_whygrad(bench).ask("table")
    wrong, empty = [], []
    for row, segments in _ROWS.items():
        calls, peak = _measured(36, segments, 1)
        for column, truth in (("calls", calls), ("peak", peak)):
            try:
                cell = yours[row][column]
            except (KeyError, TypeError):
                raise Wrong(bench.say("other_table")) from None
            if cell is None:
                empty.append(f"{row}: {column}")
            elif cell != truth:
                wrong.append(f"{row}: {column}: {shown(cell)}")
    if empty:
        raise Wrong(bench.say("not_filled_in", count=len(empty)), notes=empty)
    if wrong:
        raise Wrong(bench.say("wrong_cells", count=len(wrong)), notes=wrong)


def _calls(bench: Bench) -> None:
    cases = [_predicted("forward_calls", [n, k], _measured(n, k, 1)[0]) for n, k in _plans(bench)]
    _without_whygrad(bench).compare("predicted", cases, message=bench.say("calls_wrong"))


def _peak(bench: Bench) -> None:
    cases = []
    for n, k in _plans(bench):
        c = bench.random.randint(1, 4)
        cases.append(_predicted("peak", [n, k, c], _measured(n, k, c)[1]))
    _without_whygrad(bench).compare("predicted", cases, message=bench.say("peak_wrong"))


def _extra(bench: Bench) -> None:
    cases = []
    for n, k in _plans(bench):
        target = (_measured(n, k, 1)[0] - n) / (3 * n)
        cases.append(_predicted("extra", [n, k], target))
    _without_whygrad(bench).compare("predicted", cases, message=bench.say("extra_wrong"))


def _gradients(bench: Bench) -> None:
    for inputs, code, reply in _trained(bench, [(2, 1), (4, 2), (7, 3), (12, 4), (36, 6)]):
        _same_results(bench, inputs, reply, bench.say("gradients_wrong"), code)


def _segments(bench: Bench) -> None:
    for inputs, code, reply in _trained(bench, [(4, 1), (4, 2), (4, 4), (7, 3), (12, 5), (36, 6)]):
        n, wanted = len(inputs["weights"]), inputs["segments"]
        calls = reply["calls"]
        if calls[:n] != list(range(n)):
            raise Wrong(bench.say("not_in_order", calls=shown(calls[:n])), example=code)
        again = _runs(calls[n:])
        if sum(map(len, again)) >= n:
            raise Wrong(bench.say("last_again", n=n, calls=len(calls)), example=code)
        sizes = [len(each) for each in reversed(again)]
        sizes.append(n - sum(sizes))
        facts = {"sizes": shown(sizes), "n": n, "wanted": wanted}
        if len(sizes) != wanted:
            raise Wrong(bench.say("other_number", **facts), example=code)
        if max(sizes) - min(sizes) > 1:
            raise Wrong(bench.say("uneven", **facts), example=code)


def _memory(bench: Bench) -> None:
    plans = [(4, 2), (12, 3), (36, 6), (36, 12)]
    for inside in (1, 3):
        for inputs, code, reply in _trained(bench, plans, inside=inside):
            _, peak = _measured(len(inputs["weights"]), inputs["segments"], inside)
            if reply["peak"] > peak:
                found = {"yours": f"{reply['peak']:g}", "target": f"{peak:g}"}
                raise Wrong(bench.say("too_much_memory", **found), example=code)


def _dropout(bench: Bench) -> None:
    for inputs, code, reply in _trained(bench, [(2, 2), (6, 3), (12, 4)], dropout=0.5):
        _same_results(bench, inputs, reply, bench.say("dropout_wrong"), code)


def _best(bench: Bench) -> None:
    plans = [(36, 1), (36, 4), (12, 1), (13, 2), (1, 1)]  # (12, 1) is as good with 3 as with 4
    plans += [(n, bench.random.randint(1, 6)) for n in bench.random.sample(range(8, 61), 6)]
    cases = []
    for n, c in plans:
        peaks = {k: k + c * n // k for k in _divisors(n)}
        target = min(peaks, key=lambda k: (peaks[k], k))
        cases.append(_chosen("best_segments", [n, c], target))
    bench.compare("chosen", cases, message=bench.say("best_wrong"))


def _budget(bench: Bench) -> None:
    cases = []
    plans = [(12, 1), (36, 4)]
    plans += [(n, bench.random.randint(1, 4)) for n in bench.random.sample((24, 30, 48, 60), 3)]
    for n, c in plans:
        peaks = {k: k + c * n // k for k in _divisors(n)}
        budgets = {*peaks.values(), min(peaks.values()) - 1, max(peaks.values()) + 1}
        for budget in sorted(budgets):
            fitting = [k for k, peak in peaks.items() if peak <= budget]
            target = min(fitting) if fitting else None
            cases.append(_chosen("cheapest", [n, c, budget], target))
    bench.compare("chosen", cases, message=bench.say("budget_wrong"))


def _same_results(
    bench: Bench, inputs: dict[str, Any], reply: dict[str, Any], message: str, code: str
) -> None:
    target = _plain(inputs)
    bench.same(target, {name: reply[name] for name in target}, message=message, code=code)


def _trained(
    bench: Bench, plans: list[tuple[int, int]], inside: int = 1, dropout: float = 0.0
) -> Iterator[tuple[dict[str, Any], str, dict[str, Any]]]:
    """Inputs, a program to paste and the reply, for each (layers, segments), smallest first."""
    generator = bench.generator()
    cases, codes = [], []
    for n, segments in plans:
        cases.append({
            "weights": generator.normal(size=(n, _WIDTH, _WIDTH)).tolist(),
            "x": generator.normal(size=(_BATCH, _WIDTH)).tolist(),
            "inside": inside,
            "segments": segments,
            "dropout": dropout,
            "seed": bench.random.getrandbits(16),
        })  # fmt: skip
        codes.append(_paste(n, segments, inside, dropout))
    for inputs, code, reply in zip(cases, codes, bench.replies("trained", cases)):
        trouble = reply.trouble
        if trouble is not None and trouble.facts.get("type") == "CheckpointError":
            cause = str(trouble.facts.get("message", "")).split("\n  fix:")[0]
            raise Wrong(bench.say("second_run"), notes=[cause], example=code)
        if trouble is not None:
            trouble.example = code
            raise trouble
        yield inputs, code, reply.value


def _plain(inputs: dict[str, Any]) -> dict[str, Any]:
    """The same step without segments, and the random number that would come after it."""
    with fork_rng():
        return _plain_step(inputs)


def _plain_step(inputs: dict[str, Any]) -> dict[str, Any]:
    leaves = [
        whygrad.tensor(each, dtype=whygrad.float64, requires_grad=True)
        for each in inputs["weights"]
    ]
    whygrad.manual_seed(inputs["seed"])
    h = whygrad.tensor(inputs["x"], dtype=whygrad.float64)
    for weight in leaves:
        h = h @ weight
        for _ in range(inputs["inside"]):
            h = h.tanh()
        if inputs["dropout"]:
            h = whygrad.nn.functional.dropout(h, inputs["dropout"])
    h.sum().backward()
    return {
        "out": h.tolist(),
        "grads": [each.grad.tolist() for each in leaves],
        "next random number": whygrad.rand(1).item(),
    }


def _measured(n: int, k: int, c: int) -> tuple[int, float]:
    """How often a layer runs in one step, and the peak in units of one activation."""
    calls = 0

    def layer(weight: whygrad.Tensor) -> Any:
        def forward(h: whygrad.Tensor) -> whygrad.Tensor:
            nonlocal calls
            calls += 1
            h = h @ weight
            for _ in range(c):
                h = h.tanh()
            return h

        return forward

    layers = [layer(whygrad.ones(_WIDTH, _WIDTH, requires_grad=True)) for _ in range(n)]
    x = whygrad.ones(_BATCH, _WIDTH)
    with saved_bytes_peak() as saved:
        checkpoint_sequential(layers, k, x).sum().backward()
    return calls, saved.peak / x.nbytes


def _runs(calls: list[int]) -> list[list[int]]:
    """Stretches of layers that follow one another: [4, 5, 2, 3] → [[4, 5], [2, 3]]."""
    runs: list[list[int]] = []
    for place in calls:
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs


def _plans(bench: Bench) -> list[tuple[int, int]]:
    """Layers and segments, where the one divides the other."""
    plans = [(4, 1), (4, 2), (4, 4), (7, 1), (7, 7), (36, 6)]
    for n in bench.random.sample(range(6, 41), 5):
        plans.append((n, bench.random.choice(_divisors(n))))
    return plans


def _divisors(n: int) -> list[int]:
    return [k for k in range(1, n + 1) if n % k == 0]


def _predicted(function: str, arguments: list[int], target: float) -> Case:
    call = f"{function}({', '.join(map(str, arguments))})"
    code = f"from predictions import {function}\n\nprint({call})"
    inputs = {"function": function, "arguments": arguments}
    return Case(inputs, target, code, size=sum(arguments))


def _chosen(function: str, arguments: list[int], target: int | None) -> Case:
    code = f"from segments import {function}\n\nprint({function}({', '.join(map(str, arguments))}))"
    inputs = {"function": function, "arguments": arguments}
    return Case(inputs, target, code, size=sum(arguments))


def _paste(n: int, segments: int, inside: int, dropout: float) -> str:
    value = "(h @ weight)" + ".tanh()" * inside
    value = f"wg.nn.functional.dropout({value}, {dropout})" if dropout else value
    return f"""\
import whygrad as wg
from segments import run

wg.manual_seed(0)
weights = [wg.randn({_WIDTH}, {_WIDTH}, requires_grad=True) for _ in range({n})]
layers = [lambda h, weight=weight: {value} for weight in weights]
run(layers, {segments}, wg.randn({_BATCH}, {_WIDTH})).sum().backward()
print(weights[0].grad)"""


def _without_whygrad(bench: Bench) -> Bench:
    """Predictions are made before anything is measured, and so without the engine."""
    return replace(bench, lab=replace(bench.lab, forbids=("whygrad", "torch", *bench.lab.forbids)))
