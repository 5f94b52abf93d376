"""Grades attention against the formula, and against the mistakes that are usually made in it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy

from whygrad.learn.lab import Bench, Case, Check, Wrong
from whygrad.learn.lab.compare import worst

__all__ = ["grade"]

Arrays = dict[str, numpy.ndarray]

# Queries, keys, width, width of the values, and a batch in front.
_SHAPES = (
    (1, 1, 1, 1, ()),
    (2, 2, 1, 1, ()),
    (2, 3, 2, 1, ()),
    (3, 2, 4, 3, ()),
    (3, 3, 2, 2, (2,)),
)
_SQUARE = ((2, 2, 1, 1, ()), (3, 3, 2, 2, ()), (4, 4, 4, 3, (2,)))
_LENGTH, _WIDTH = 256, 4
_MISTAKES = ("scale", "mean", "mask")
_WIDE = 40.0  # entries of this size make logits beyond what exp can take


def grade(bench: Bench) -> Iterator[Check]:
    yield bench.check("values", lambda bench: _values(bench, _SHAPES, causal=False))
    yield bench.check("causal", lambda bench: _values(bench, _SQUARE, causal=True))
    yield bench.check("function", _function)
    yield bench.check("gradients", lambda bench: _gradients(bench, _SHAPES, causal=False))
    yield bench.check("causal-gradients", lambda bench: _gradients(bench, _SQUARE, causal=True))
    yield bench.check("saved", _saved)
    yield bench.check("stable", _stable)
    yield bench.check("gradcheck", _gradcheck)
    yield bench.check("needs", _needs)


def _values(bench: Bench, shapes: Sequence[Any], causal: bool) -> None:
    cases = []
    for shape in shapes:
        arrays = _arrays(bench, shape)
        inputs = {"arguments": _lists(arrays), "causal": causal}
        target = _attention(arrays, causal)["out"].tolist()
        code = _paste(arrays, f"print(attention(q, k, v, causal={causal}))", grad=False)
        cases.append(Case(inputs, target, code, size=arrays["q"].size))
    bench.compare("values", cases)


def _function(bench: Bench) -> None:
    arrays = _arrays(bench, (3, 3, 2, 2, ()))
    target = {"Attention is a Function": True, "nodes": 1, "the node": "AttentionBackward"}
    code = _paste(arrays, "print(attention(q, k, v).grad_fn)")
    case = Case({"arguments": _lists(arrays)}, target, code)
    bench.compare("graph", [case], message=bench.say("not_one_node"))


def _gradients(bench: Bench, shapes: Sequence[Any], causal: bool) -> None:
    draws = [_arrays(bench, shape) for shape in shapes]
    cases = []
    for arrays in draws:
        inputs = {
            "arguments": _lists(arrays),
            "incoming": arrays["incoming"].tolist(),
            "causal": causal,
        }
        code = _paste(arrays, _BACKWARD.format(causal, arrays["incoming"].tolist()))
        target = _plain(_attention(arrays, causal))
        cases.append(Case(inputs, target, code, size=arrays["q"].size))
    replies = bench.replies("gradients", [case.inputs for case in cases])
    message = _diagnosis(bench, draws[-1], causal, replies[-1].value)
    for case, reply in zip(cases, replies):
        if reply.trouble is not None:
            reply.trouble.example = case.code
            raise reply.trouble
        bench.same(case.target, reply.value, relative=1e-7, absolute=1e-9,
                   message=message, code=case.code)  # fmt: skip


_BACKWARD = """\
out = attention(q, k, v, causal={})
out.backward(wg.tensor({}, dtype=wg.float64))
print(q.grad, k.grad, v.grad)"""


def _diagnosis(bench: Bench, arrays: Arrays, causal: bool, yours: Any) -> str:
    """The usual mistake that gives exactly this reply, in words."""
    for mistake in _MISTAKES:
        wrong = _plain(_attention(arrays, causal, mistake))
        if worst(wrong, yours, relative=1e-7, absolute=1e-9) is None:
            return bench.say(f"mistake_{mistake}")
    return bench.say("mistake_mask") if causal else ""


def _saved(bench: Bench) -> None:
    limit = _LENGTH**2  # bytes: not even one bit of truth per pair is to be kept
    for causal in (False, True):
        found = bench.ask("saved", length=_LENGTH, width=_WIDTH, causal=causal)
        large = {name: size for name, size in found["held"].items() if size >= limit}
        if large:
            rows = [f"{name}: {size:,} bytes" for name, size in large.items()]
            raise Wrong(bench.say("saves_matrix", n=_LENGTH), notes=rows, example=_MEASURE)
        if found["growth"] >= limit:
            raise Wrong(bench.say("keeps_matrix", n=_LENGTH, bytes=f"{found['growth']:,}"))


_MEASURE = f"""\
import whygrad as wg
from attention import attention

q, k, v = (wg.ones({_LENGTH}, {_WIDTH}, requires_grad=True) for _ in range(3))
print(wg.autograd.graph.memory(attention(q, k, v)))"""


def _stable(bench: Bench) -> None:
    cases = []
    for shape, causal in ((_SQUARE[1], False), (_SQUARE[1], True), (_SHAPES[3], False)):
        arrays = _arrays(bench, shape)
        arrays["q"], arrays["k"] = _WIDE * arrays["q"], _WIDE * arrays["k"]
        arrays["q"][0], arrays["k"][0] = _WIDE, _WIDE  # at least one logit is above 1,000
        inputs = {
            "arguments": _lists(arrays),
            "incoming": arrays["incoming"].tolist(),
            "causal": causal,
        }
        code = _paste(arrays, _BACKWARD.format(causal, arrays["incoming"].tolist()))
        target = _plain(_attention(arrays, causal))
        cases.append(Case(inputs, target, code, size=arrays["q"].size))
    message = bench.say("unstable")
    bench.compare("gradients", cases, relative=1e-6, absolute=1e-8, message=message)


def _gradcheck(bench: Bench) -> None:
    said = bench.ask("verdicts", faults=["", *"qkv"])
    for name in ("own", "own causal", ""):
        if said[name] is not True:
            raise Wrong(bench.say("rejects_right", name=name or bench.say("another")))
    accepted = [name for name in "qkv" if said[name] is not False]
    if accepted:
        raise Wrong(bench.say("accepts_wrong", names=", ".join(accepted)))


def _needs(bench: Bench) -> None:
    arrays = _arrays(bench, (3, 3, 2, 2, ()))
    wishes = ["qkv", "q", "k", "v", "qk", "qv", "kv"]
    cases = [{"arguments": _lists(arrays), "wanted": each} for each in wishes]
    replies = bench.replies("needs", cases)
    for wanted, reply in zip(wishes, replies):
        if reply.trouble is not None:
            raise reply.trouble
        if reply.value["returned"] != list(wanted):
            given = ", ".join(reply.value["returned"]) or "None"
            raise Wrong(bench.say("needless", wanted=", ".join(wanted), given=given))
    if replies[3].value["operations"] >= replies[0].value["operations"]:
        raise Wrong(bench.say("computed_anyway"))


def _attention(arrays: Arrays, causal: bool, mistake: str = "") -> Arrays:
    """Attention and its gradients by the formulas; ``mistake`` leaves one part of them out."""
    q, k, v, incoming = (arrays[name] for name in ("q", "k", "v", "incoming"))
    root = math.sqrt(q.shape[-1])
    scores = q @ k.swapaxes(-1, -2) / root
    masked = numpy.where(_later(scores), -numpy.inf, scores) if causal else scores
    weights = _softmax(masked)
    out = weights @ v
    if mistake == "mask":  # in backward only: the statistics of the rows are those of forward
        weights = numpy.exp(scores - _lse(masked))
    of_weights = incoming @ v.swapaxes(-1, -2)
    mean = 0.0 if mistake == "mean" else (of_weights * _softmax(masked)).sum(-1, keepdims=True)
    of_scores = weights * (of_weights - mean) / (1.0 if mistake == "scale" else root)
    return {
        "out": out,
        "q.grad": of_scores @ k,
        "k.grad": of_scores.swapaxes(-1, -2) @ q,
        "v.grad": weights.swapaxes(-1, -2) @ incoming,
    }


def _later(scores: numpy.ndarray) -> numpy.ndarray:
    return numpy.triu(numpy.ones(scores.shape[-2:], bool), 1)


def _lse(scores: numpy.ndarray) -> numpy.ndarray:
    highest = scores.max(-1, keepdims=True)
    return highest + numpy.log(numpy.exp(scores - highest).sum(-1, keepdims=True))


def _softmax(scores: numpy.ndarray) -> numpy.ndarray:
    return numpy.exp(scores - _lse(scores))


def _arrays(bench: Bench, shape: tuple[int, int, int, int, tuple[int, ...]]) -> Arrays:
    """Short numbers, so that a failing example can be read."""
    queries, keys, width, value_width, batch = shape
    generator = bench.generator()
    sizes = {
        "q": (queries, width),
        "k": (keys, width),
        "v": (keys, value_width),
        "incoming": (queries, value_width),
    }
    return {name: generator.integers(-8, 9, (*batch, *size)) / 4.0 for name, size in sizes.items()}


def _lists(arrays: Arrays) -> dict[str, Any]:
    return {name: arrays[name].tolist() for name in "qkv"}


def _plain(arrays: Arrays) -> dict[str, Any]:
    return {name: array.tolist() for name, array in arrays.items()}


def _paste(arrays: Arrays, call: str, grad: bool = True) -> str:
    wish = ", requires_grad=True" if grad else ""
    lines = [
        f"{name} = wg.tensor({arrays[name].tolist()}, dtype=wg.float64{wish})" for name in "qkv"
    ]
    return "\n".join(["import whygrad as wg", "from attention import attention", "", *lines, call])
