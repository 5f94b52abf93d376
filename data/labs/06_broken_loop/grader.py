"""Grades the repaired loop by running it under observation, in PyTorch or whygrad."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from whygrad.learn.lab import Bench, Check, Wrong
from whygrad.learn.lab.compare import worst
from whygrad.learn.lab.sandbox import Reply

__all__ = ["grade"]

_STEPS = 80
_LARGE_STEP = 25
_LAYERS = ["Linear 10→64", "Sigmoid", "Linear 64→64", "Sigmoid", "Linear 64→1"]
_MEASURED = ("input", "output", "loss", "gradient")
_NOT_FINITE = (math.nan, math.inf, -math.inf)
_HIGHEST = 10.0  # of a loss that begins near 1; targets and outputs are of size 1
_OVERFLOWING = 1e30
_CONCERN = 0.05  # the share of saturated units from which on it is one
_ABOUT = 0.06  # how far a written share may be off: a batch of 32 is a small sample


def grade(bench: Bench) -> Iterator[Check]:
    seen = _Observations(bench)
    yield bench.check("kept", seen.kept)
    yield bench.check("seed", seen.seed)
    yield bench.check("inspect", seen.inspect)
    yield bench.check("first", seen.first)
    yield bench.check("watched", seen.watched)
    yield bench.check("loss", seen.loss)
    yield bench.check("zero-grad", seen.zero_grad)
    yield bench.check("rate", seen.rate)
    yield bench.check("saturation", seen.saturation)


class _Observations:
    """All that is asked of the program, asked in one process: loading PyTorch takes seconds."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        numbers = random.Random(bench.seed)
        bad = [(name, each) for name in (*_MEASURED, "everything") for each in _NOT_FINITE]
        self.cases = [_inspected(numbers), *(_inspected(numbers, *each) for each in bad)]
        seeds = [numbers.randrange(1, 10**6) for _ in range(5)]
        self.questions: dict[str, dict[str, Any]] = {
            "run": {"what": "run", "seed": seeds[0]},
            "again": {"what": "run", "seed": seeds[1]},
            "inspection": {"what": "inspection", "cases": self.cases},
            "original": {"what": "original", "seed": seeds[2]},
            "learnable": {"what": "run", "seed": seeds[3], "learnable": True},
            "saturation": {"what": "saturation", "seed": seeds[4]},
        }

    @cached_property
    def _replies(self) -> dict[str, Reply]:
        replies = self.bench.replies("observe", list(self.questions.values()))
        return dict(zip(self.questions, replies))

    def _reply(self, name: str) -> Any:
        reply = self._replies[name]
        if reply.trouble is not None:
            raise reply.trouble
        return reply.value

    def _events(self, kind: str, run: str = "run") -> list[dict[str, Any]]:
        return [each for each in self._reply(run)["events"] if each["event"] == kind]

    def _wrong(self, key: str, **values: Any) -> Wrong:
        return Wrong(self.bench.say(key, **values))

    def kept(self, bench: Bench) -> None:
        """The experiment is the one that was given: network, batches, optimizer."""
        batches, passes = self._events("batch"), self._events("forward")
        if [each["step"] for each in batches] != list(range(_STEPS)):
            raise self._wrong("other_batches", count=len(batches), steps=_STEPS)
        for each in batches:
            large = each["step"] == _LARGE_STEP
            if not (5 < each["size"] < 20 if large else 0.5 < each["size"] < 2):
                raise self._wrong("other_data", step=each["step"], size=each["size"])
            if each["shapes"] != [[32, 10], [32, 1]]:
                raise self._wrong("other_shapes", shapes=each["shapes"])
        layers = passes[0]["layers"] if passes else []
        bench.same(_LAYERS, layers, message=bench.say("other_network"))
        steps = len(self._events("step"))
        if steps < _STEPS - 1:
            raise self._wrong("few_steps", steps=steps)
        if not self._reply("run")["returned"]:
            raise self._wrong("not_returned")

    def seed(self, bench: Bench) -> None:
        for kind, part in (("backward", "loss"), ("batch", "size")):
            one, other = (self._events(kind, run) for run in ("run", "again"))
            for step, (here, there) in enumerate(zip(one, other)):
                if worst(here[part], there[part]) is not None:
                    numbers = {"one": here[part], "other": there[part]}
                    raise self._wrong(f"two_runs_{part}", step=step, **numbers)

    def inspect(self, bench: Bench) -> None:
        for case, yours in zip(self.cases, self._reply("inspection")):
            target = _measurements(case)
            _same_measurements(bench, target, yours, _call(case))

    def first(self, bench: Bench) -> None:
        steps = self._reply("original")
        for number, each in enumerate(steps):
            target = {"step": number, **{name: each[name] for name in _MEASURED}}
            target["invalid"] = _first_invalid(target)
            yours = each["yours"]
            wanted = target["invalid"]
            found = yours.get("invalid") if isinstance(yours, dict) else None
            if wanted != found:
                names = {"step": number, "wanted": wanted, "found": found}
                low, high = target["output"]
                raise self._wrong("first_invalid", **names, low=low, high=high)
            if wanted is not None:
                return

    def watched(self, bench: Bench) -> None:
        order = [each for each in self._reply("run")["events"] if each["event"] != "forward"]
        for step, events in enumerate(_by_batch(order)):
            kinds = [each["event"] for each in events]
            if "step" not in kinds:
                continue  # a batch that was left out on purpose; "kept" counts them
            before = kinds[: kinds.index("step")]
            if "inspect" not in before:
                key = "inspected_late" if "inspect" in kinds else "not_inspected"
                raise self._wrong(key, step=step)
            if "backward" in before[before.index("inspect") :]:
                raise self._wrong("inspected_early", step=step)
            seen = events[kinds.index("inspect")]
            if seen["step"] != step:
                raise self._wrong("other_step", step=step, yours=seen["step"])
            if strangers := [name for name, same in seen["same"].items() if not same]:
                raise self._wrong("other_tensors", step=step, names=", ".join(strangers))

    def loss(self, bench: Bench) -> None:
        for step, each in enumerate(self._events("backward")):
            output, y = each["output"], each["y"]
            target = _mean_square(output, y)
            if not target < _OVERFLOWING:
                return  # from here on the numbers say nothing about the loss: "rate" has them
            if not math.isclose(each["loss"], target, rel_tol=1e-3, abs_tol=1e-6):
                mistakes = {
                    "loss_log": _mean_log(output),
                    "loss_broadcast": _mean_square(*zip(*itertools.product(output, y))),
                    "loss_sum": target * len(y),
                    "loss_root": math.sqrt(target),
                    "loss_absolute": sum(abs(a - b) for a, b in zip(output, y)) / len(y),
                }
                known = [key for key, value in mistakes.items() if _near(each["loss"], value)]
                key = known[0] if known else "loss_other"
                raise self._wrong(key, step=step, yours=each["loss"], target=target)

    def zero_grad(self, bench: Bench) -> None:
        for step, each in enumerate(self._events("backward")):
            if each["held"]:
                raise self._wrong("not_cleared", step=step, norm=each["held"])
        for step, each in enumerate(self._events("step")):
            if not each["gradient"]:
                raise self._wrong("cleared_late", step=step)

    def rate(self, bench: Bench) -> None:
        for run, name in (("run", "data_random"), ("learnable", "data_learnable")):
            losses = [each["loss"] for each in self._events("backward", run)]
            data = bench.say(name)
            if not losses:
                raise self._wrong("few_steps", steps=0)
            for step, loss in enumerate(losses):
                if not math.isfinite(loss):
                    raise self._wrong("rate_invalid", data=data, step=step, loss=loss)
            highest = max(losses)
            if highest > _HIGHEST * max(1.0, losses[0]):
                step = losses.index(highest)
                raise self._wrong("rate_jumps", data=data, step=step, loss=highest, first=losses[0])
        last = sum(losses[-10:]) / 10
        if last > losses[0] / 4:
            raise self._wrong("rate_too_small", data=data, first=losses[0], last=last)

    def saturation(self, bench: Bench) -> None:
        reply = self._reply("saturation")
        written = reply["written"]
        names = ("ordinary", "large")
        for name in names:
            message = bench.say("shares_wrong", name=bench.say(f"batch_{name}"))
            shares, yours = reply[name]["shares"], reply[name]["yours"]
            bench.same(shares, yours, absolute=1e-3, message=message)
        for name in names:
            if not isinstance(written, Mapping) or not _two_numbers(written.get(name)):
                raise self._wrong("not_written", name=name)
            message = bench.say("written_wrong", name=name)
            bench.same(reply[name]["shares"], written[name], absolute=_ABOUT, message=message)
        high = [name for name in names if max(reply[name]["shares"]) > _CONCERN]
        truth = "yes" if "ordinary" in high else "large" if high else "no"
        if written.get("concern") != truth:
            raise self._wrong(
                "concern_wrong",
                yours=written.get("concern"),
                ordinary=_percent(reply["ordinary"]["shares"]),
                large=_percent(reply["large"]["shares"]),
            )


def _inspected(
    numbers: random.Random, bad: str | None = None, what: float = math.nan
) -> dict[str, Any]:
    """Numbers for one call of ``inspect``; one of them, or every one, is not finite."""

    def some(count: int) -> list[float]:
        return [numbers.randint(-40, 40) / 8 for _ in range(count)]

    values = {"input": some(4), "output": some(3), "loss": some(1), "gradient": some(2)}
    for name, listed in values.items():
        if bad in (name, "everything"):
            listed[numbers.randrange(len(listed))] = what
    return {
        "step": numbers.randrange(_STEPS),
        "x": [values["input"][:2], values["input"][2:]],
        "output": [[each] for each in values["output"]],
        "loss": values["loss"][0],
        "gradient": [values["gradient"]],
    }


def _measurements(case: Mapping[str, Any]) -> dict[str, Any]:
    x = [number for row in case["x"] for number in row]
    output = [row[0] for row in case["output"]]
    found: dict[str, Any] = {
        "step": case["step"],
        "input": [min(x), max(x)] if all(map(math.isfinite, x)) else [math.nan, math.nan],
        "output": (
            [min(output), max(output)] if all(map(math.isfinite, output)) else [math.nan, math.nan]
        ),
        "loss": case["loss"],
        "gradient": math.hypot(*case["gradient"][0]),
    }
    if any(map(math.isnan, case["gradient"][0])):  # hypot(nan, inf) is inf
        found["gradient"] = math.nan
    return {**found, "invalid": _first_invalid(found)}


def _first_invalid(found: Mapping[str, Any]) -> str | None:
    """The first of input, output, loss and gradient that is not finite, in the order of a step."""
    for name in _MEASURED:
        numbers = found[name] if isinstance(found[name], list) else [found[name]]
        if not all(map(math.isfinite, numbers)):
            return name
    return None


def _same_measurements(bench: Bench, target: dict[str, Any], yours: Any, code: str) -> None:
    """What is not finite may be told in any way; what is finite must be right."""
    if isinstance(yours, dict) and yours.keys() == target.keys():
        for name in _MEASURED:
            if _first_invalid({**dict.fromkeys(_MEASURED, 0.0), name: target[name]}) is not None:
                yours = {**yours, name: target[name]}
        if yours["invalid"] != target["invalid"]:
            names = {"wanted": target["invalid"], "found": yours["invalid"]}
            raise Wrong(bench.say("invalid_wrong", **names), example=code)
    bench.same(target, yours, relative=1e-4, absolute=1e-6, code=code)


def _call(case: Mapping[str, Any]) -> str:
    numbers = {name: str(case[name]) for name in ("x", "output", "loss", "gradient")}
    return f"""\
from math import inf, nan
from broken_loop import inspect, nn, torch

model = nn.Linear(2, 1)
model.weight.grad = torch.tensor({numbers["gradient"]})
x, output = torch.tensor({numbers["x"]}), torch.tensor({numbers["output"]})
print(inspect({case["step"]}, x, output, torch.tensor({numbers["loss"]}), model))"""


def _by_batch(events: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The events of each step, which begins with its batch."""
    steps: list[list[dict[str, Any]]] = []
    for each in events:
        if each["event"] == "batch":
            steps.append([])
        elif steps:
            steps[-1].append(each)
    return steps


def _mean_square(ones: Any, others: Any) -> float:
    return float(sum((one - other) ** 2 for one, other in zip(ones, others))) / len(ones)


def _mean_log(output: list[float]) -> float:
    if min(output) <= 0:
        return math.nan
    return sum(map(math.log, output)) / len(output)


def _near(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-3) or (math.isnan(one) and math.isnan(other))


def _two_numbers(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(isinstance(each, (int, float)) for each in value)
    )


def _percent(shares: list[float]) -> str:
    return ", ".join(f"{share:.0%}" for share in shares)
