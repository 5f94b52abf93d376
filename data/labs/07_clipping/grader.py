"""Grades clipping by value and by norm against NumPy and against whygrad's own functions."""

from __future__ import annotations

import math
import runpy
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from whygrad.learn.lab import Bench, Case, Check, Wrong
from whygrad.learn.lab.compare import worst
from whygrad.nn.utils import clip_grad_norm_, clip_grad_value_, get_total_norm

__all__ = ["grade"]

_SHAPES: tuple[tuple[tuple[int, ...], ...], ...] = (
    ((2,),),
    ((2,), (1,)),
    ((2, 2), (2,)),
    ((3, 2), (3,), (1, 3), (1,)),
)
_TRUTH = {"a": False, "b": True, "c": True, "d": False, "e": True, "f": False}
_TURNED = 0.99  # the cosine below which a direction counts as changed; 8 degrees

Grads = list[np.ndarray[Any, Any]]


def grade(bench: Bench) -> Iterator[Check]:
    yield bench.check("norm", _norm)
    yield bench.check("value", _value)
    yield bench.check("scaled", _scaled)
    yield bench.check("below", _below)
    yield bench.check("zero", _zero)
    yield bench.check("not-finite", _not_finite)
    yield bench.check("cosine", _cosine)
    yield bench.check("turned", _turned)
    yield bench.check("model", _model)
    yield bench.check("statements", _statements)


def _norm(bench: Bench) -> None:
    cases = []
    for grads in _samples(bench):
        code = f"{_program('total_norm', grads)}print(total_norm(grads))  # {_length(grads):.6g}"
        cases.append(Case({"grads": _lists(grads)}, _length(grads), code, size=len(grads)))
    mistakes = {
        "norms_added": lambda grads: sum(float(np.linalg.norm(each)) for each in grads),
        "not_rooted": lambda grads: _length(grads) ** 2,
        "largest_norm": lambda grads: max(float(np.linalg.norm(each)) for each in grads),
        "not_squared": lambda grads: sum(float(np.abs(each).sum()) for each in grads),
    }
    _compare(bench, "norm", cases, mistakes)


def _value(bench: Bench) -> None:
    cases = [
        _clipping(grads, "clip_by_value", limit, [np.clip(each, -limit, limit) for each in grads])
        for grads, limit in _with_thresholds(bench, _largest)
    ]
    mistakes = {
        "one_sided": lambda grads, limit: [np.minimum(each, limit) for each in grads],
        "scaled_instead": lambda grads, limit: _scale(grads, limit / _largest(grads)),
    }
    _compare(bench, "clipped", cases, mistakes)


def _scaled(bench: Bench) -> None:
    cases = [
        _clipping(grads, "clip_by_norm", most, _scale(grads, most / _length(grads)))
        for grads, most in _with_thresholds(bench, _length)
    ]
    mistakes = {
        "each_alone": lambda grads, most: [
            each * min(1.0, most / float(np.linalg.norm(each))) for each in grads
        ],
        "cut_off_instead": lambda grads, most: [np.clip(each, -most, most) for each in grads],
    }
    _compare(bench, "clipped", cases, mistakes, relative=1e-5)


def _below(bench: Bench) -> None:
    """Nothing changes where nothing is too large: not even a little."""
    cases = []
    for function, size in (("clip_by_value", _largest), ("clip_by_norm", _length)):
        for grads in _samples(bench):
            threshold = math.ceil(size(grads)) + bench.random.randint(1, 9)
            cases.append(_clipping(grads, function, threshold, grads))
    mistakes = {"made_larger": lambda grads, most: _scale(grads, most / _length(grads))}
    _compare(bench, "clipped", cases, mistakes, relative=1e-12)


def _zero(bench: Bench) -> None:
    cases = []
    for function in ("clip_by_value", "clip_by_norm"):
        for shapes in _SHAPES:
            grads = [np.zeros(shape) for shape in shapes]
            cases += [_clipping(grads, function, threshold, grads) for threshold in (1.0, 0.0)]
    bench.compare("clipped", cases, message=bench.say("zero_over_zero"))


def _not_finite(bench: Bench) -> None:
    cases = []
    for bad in (math.nan, math.inf, -math.inf):
        grads = [np.array([1.0, bad]), np.array([2.0])]
        code = f"{_program('clip_by_norm', grads)}clip_by_norm(grads, 1.0)  # → ValueError"
        cases.append(Case({"grads": _lists(grads), "threshold": 1.0}, "ValueError", code))
    bench.compare("refused", cases, message=bench.say("nothing_raised"))


def _cosine(bench: Bench) -> None:
    cases = []
    generator = bench.generator()
    for grads in _samples(bench):
        for others in (
            _scale(grads, 0.25),
            _scale(grads, -2.0),
            [np.round(generator.normal(size=each.shape), 2) for each in grads],
        ):
            target = _cosine_of(grads, others)
            code = (
                f"{_program('cosine', grads)}others = {_shown(others)}\n"
                f"print(cosine(grads, others))  # {target:.6g}"
            )
            inputs = {"grads": _lists(grads), "others": _lists(others)}
            cases.append(Case(inputs, target, code, size=len(grads)))
    bench.compare("cosine", cases)


def _turned(bench: Bench) -> None:
    """The learner's example: value clipping turns it, clipping by norm would not."""
    reply = bench.ask("example")
    limit, before = reply["limit"], _arrays(reply["before"])
    if not isinstance(limit, (int, float)) or not limit > 0 or not 0 < _length(before) < math.inf:
        raise Wrong(bench.say("no_example"))
    target = [np.clip(each, -limit, limit) for each in before]
    bench.same(_lists(target), reply["after"], message=bench.say("clip_by_value_wrong"))
    measured = _cosine_of(before, target)
    if not measured < _TURNED:
        same = _largest(before) <= limit
        key = "example_unclipped" if same else "example_not_turned"
        raise Wrong(bench.say(key, cosine=measured, limit=limit, most=_TURNED))


def _model(bench: Bench) -> None:
    network = runpy.run_path(str(Path(__file__).with_name("probes.py")))["_network"]
    cases = []
    for function, clip in (("clip_by_norm", clip_grad_norm_), ("clip_by_value", clip_grad_value_)):
        for scale, threshold in ((20.0, 0.5), (20.0, 1e6)):
            seed = bench.random.randrange(10**6)
            model = network(seed, scale)
            grads = [each.grad for each in model.parameters() if each.grad is not None]
            before = get_total_norm(grads).item()
            clip(model.parameters(), threshold)
            target = {
                "norms": [before, get_total_norm(grads).item()],
                "grads": {
                    name: None if each.grad is None else each.grad.tolist()
                    for name, each in model.named_parameters()
                },
            }
            inputs: dict[str, Any] = {"function": function, "threshold": threshold}
            inputs |= {"seed": seed, "scale": scale}
            cases.append(Case(inputs, target, _model_program(**inputs)))
    replies = bench.replies("model", [case.inputs for case in cases])
    for case, reply in zip(cases, replies):
        if reply.trouble is not None:
            reply.trouble.example = case.code
            raise reply.trouble
        for part in ("norms", "grads"):
            bench.same(
                case.target[part], reply.value[part],
                relative=1e-4, absolute=1e-6, message=bench.say(f"model_{part}"), code=case.code,
            )  # fmt: skip


def _statements(bench: Bench) -> None:
    reply = bench.ask("statements")
    if not isinstance(reply, dict) or sorted(reply) != sorted(_TRUTH):
        raise Wrong(bench.say("other_keys", keys=", ".join(_TRUTH)))
    undecided = [key for key, value in reply.items() if not isinstance(value, bool)]
    if undecided:
        raise Wrong(bench.say("undecided", keys=", ".join(undecided)))
    right = sum(reply[key] is truth for key, truth in _TRUTH.items())
    if right < len(_TRUTH):
        raise Wrong(bench.say("some_right", right=right, count=len(_TRUTH)))


def _compare(
    bench: Bench,
    probe: str,
    cases: Sequence[Case],
    mistakes: dict[str, Callable[..., Any]],
    relative: float = 1e-9,
) -> None:
    """Like ``bench.compare``, with a word on the mistake if the result is that of a known one."""
    ordered = sorted(cases, key=lambda case: case.size)
    replies = bench.replies(probe, [case.inputs for case in ordered])
    for case, reply in zip(ordered, replies):
        if reply.trouble is not None:
            reply.trouble.example = case.code
            raise reply.trouble
        message = ""
        if probe == "clipped" and worst(case.target["grads"], reply.value["grads"]) is not None:
            message = bench.say("inputs_changed")
        elif worst(case.target, reply.value, relative=relative, absolute=1e-12) is not None:
            message = _named(bench, case, reply.value, mistakes)
        bench.same(case.target, reply.value, relative=relative, message=message, code=case.code)


def _named(bench: Bench, case: Case, yours: Any, mistakes: dict[str, Callable[..., Any]]) -> str:
    grads = _arrays(case.inputs["grads"])
    for key, mistake in mistakes.items():
        if "threshold" in case.inputs:
            result: Any = {
                **case.target,
                "clipped": _lists(mistake(grads, case.inputs["threshold"])),
            }
        else:
            result = mistake(grads)
        if worst(result, yours, relative=1e-5, absolute=1e-9) is None:
            return bench.say(key)
    return ""


def _clipping(grads: Grads, function: str, threshold: float, target: Grads) -> Case:
    result = _lists(target)
    code = (
        f"{_program(function, grads)}print({function}(grads, {threshold}))\n"
        f"# {[np.round(each, 4).tolist() for each in _arrays(result)]}"
    )
    inputs = {"function": function, "grads": _lists(grads), "threshold": threshold}
    return Case(inputs, {"clipped": result, "grads": _lists(grads)}, code, size=len(grads))


def _samples(bench: Bench) -> list[Grads]:
    """Gradients of a few shapes, with short numbers of both signs."""
    generator = bench.generator()
    found = []
    for shapes in _SHAPES:
        grads = [np.round(generator.normal(scale=3.0, size=shape), 1) for shape in shapes]
        grads[0].flat[0], grads[0].flat[1] = 4.0, -3.5
        found.append(grads)
    return found


def _with_thresholds(bench: Bench, size: Callable[[Grads], float]) -> Iterator[tuple[Grads, float]]:
    for grads in _samples(bench):
        yield grads, round(size(grads) * bench.random.uniform(0.2, 0.7), 1)


def _length(grads: Grads) -> float:
    return math.sqrt(sum(float((each**2).sum()) for each in grads))


def _largest(grads: Grads) -> float:
    return max(float(np.abs(each).max()) for each in grads)


def _scale(grads: Grads, factor: float) -> Grads:
    return [each * factor for each in grads]


def _cosine_of(grads: Grads, others: Grads) -> float:
    product = sum(float((one * other).sum()) for one, other in zip(grads, others))
    return product / (_length(grads) * _length(others))


def _arrays(lists: Sequence[Any]) -> Grads:
    return [np.array(each, dtype=float) for each in lists]


def _lists(grads: Grads) -> list[Any]:
    return [each.tolist() for each in grads]


def _shown(grads: Grads) -> str:
    return f"[{', '.join(f'np.array({each.tolist()})' for each in grads)}]"


def _program(function: str, grads: Grads) -> str:
    head = f"import numpy as np\nfrom clipping import {function}\n\n"
    text = _shown(grads).replace("nan", "np.nan").replace("inf", "np.inf")
    return f"{head}grads = {text}\n"


def _model_program(function: str, threshold: float, seed: int, scale: float) -> str:
    return f"""\
import whygrad
from clipping import clip_model, {function}
from whygrad import nn

whygrad.manual_seed({seed})
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
model[0].bias.requires_grad_(False)
loss = {scale} * (model(whygrad.randn(8, 3)) - whygrad.randn(8, 1)).square().mean()
loss.backward()
print(clip_model(model, {function}, {threshold}))"""
