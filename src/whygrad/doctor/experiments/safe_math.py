"""Calls that have no finite value, made safe: the remedies of the rules about NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whygrad.doctor.evidence.flow import feature_axis, follow
from whygrad.doctor.experiments.changes import given, instead, mended
from whygrad.doctor.experiments.remedies import Remedy
from whygrad.doctor.forensics import FirstBad
from whygrad.doctor.mechanism import Mechanism
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.recipes import Wrapper, passed_on

__all__ = ["is_raw", "made_safe", "never_negative"]

_LITTLE = 1e-8
_UNDER_ROOT = 1e-12
_HIGHEST = 20.0  # argument of an exp
_ROOTS = ops.SQRT | ops.POWERS
_NOT_ALONE = "the fix replaces several calls by one of the library"


def made_safe(cause: Mechanism) -> Remedy | str:
    """The step with the call that made the first bad value kept inside of what it can compute."""
    trace, call = cause.bad.trace, cause.bad.call
    if trace is None or trace.snapshot.loss is None:
        return "the step cannot be run again"
    here = [each for each in trace.calls if each.where == cause.where]
    if cause.rule != "nan-from-where" and (call is None or call.where != cause.where):
        call = next(
            (each for each in reversed(here) if _wrapper(cause.rule, cause.bad, each)), None
        )
    if call is None:
        return _NOT_ALONE
    if cause.rule == "unstable-loss":
        changes = _in_one_go(trace, call)
    else:
        wrapper = _wrapper(cause.rule, cause.bad, call)
        changes = {} if wrapper is None else {call.number: wrapper}
    return mended(trace.snapshot, changes) if changes else _NOT_ALONE


def _wrapper(rule: str, bad: FirstBad, call: Traced) -> Wrapper | None:
    if call.op in ops.DIV and len(call.inputs) > 1:
        return _divided
    chosen = rule == "nan-from-where"  # elements that are left out later may be anything
    if call is bad.call and is_raw(bad):
        return given(_softplus(bad.trace))
    if call.op in ops.LOGS and call.op not in ops.LOG1P:
        return given(_positive if chosen else lambda x: x.clamp(min=_LITTLE))
    if call.op in _ROOTS:
        return given(_positive if chosen else lambda x: x.clamp(min=0) + _UNDER_ROOT)
    grows = never_negative(call)
    if call.op in ops.EXP:
        return given(lambda x: -x if grows else x.clamp(max=_HIGHEST))
    return None


def never_negative(exp: Traced) -> bool:
    """Whether an exponential is of distances or the like, which a kernel takes with a minus."""
    return exp.op in ops.EXP and bool(exp.before) and exp.before[0].low >= 0


def is_raw(bad: FirstBad) -> bool:
    """Whether a log is taken of what a layer returns: nothing makes that positive."""
    trace, log = bad.trace, bad.call
    if trace is None or log is None or log.op not in ops.LOGS or not log.sources:
        return False
    return feature_axis(trace, follow(trace, log.sources[0])) is not None


def _softplus(trace: Trace | None) -> Callable[[Any], Any]:
    assert trace is not None
    space: Any = trace.engine.namespace.nn.functional
    return lambda x: space.softplus(x) + _LITTLE


def _positive(x: Any) -> Any:
    return x * (x > 0) + (x <= 0) * 1.0


def _divided(inner: Callable[..., Any]) -> Callable[..., Any]:
    """A quotient that counts nothing as one, and any other zero as a little."""

    def safe(above: Any, below: Any, *rest: Any, **named: Any) -> Any:
        counts = bool((below == below.round()).all())
        instead_of_zero = 1.0 if counts else _LITTLE
        return inner(above, below + (below == 0) * instead_of_zero, *rest, **named)

    return safe


def _in_one_go(trace: Trace, log: Traced) -> dict[int, Wrapper]:
    """A log of a softmax or sigmoid, as the library computes both together."""
    made = follow(trace, log.sources[0]).maker if log.op in ops.LOG and log.sources else None
    if made is not None and made.op in ops.SUB | ops.REVERSED_SUB:  # 1 - p
        made = follow(trace, made.sources[0]).maker
    if made is None:
        return {}
    space: Any = trace.engine.namespace.nn.functional
    users = trace.consumers(Produced(made.number, 0))
    if made.op in ops.SOFTMAX and len(users) == 1:
        return {made.number: _log_softmax(space), log.number: passed_on}
    return _log_sigmoids(trace, made, space) if made.op in ops.SIGMOID else {}


def _log_sigmoids(trace: Trace, sigmoid: Traced, space: Any) -> dict[int, Wrapper]:
    """log(p) and log(1 - p) of a sigmoid p, both from its score."""
    seen: list[Any] = []  # the score, in the latest run

    def noting(inner: Callable[..., Any]) -> Callable[..., Any]:
        def noted(score: Any, *rest: Any, **named: Any) -> Any:
            seen[:] = [score]
            return inner(score, *rest, **named)

        return noted

    changes: dict[int, Wrapper] = {sigmoid.number: noting}
    for each in trace.consumers(Produced(sigmoid.number, 0)):
        if each.op in ops.LOG:
            changes[each.number] = instead(lambda p: space.logsigmoid(seen[0]))
        elif each.op in ops.SUB | ops.REVERSED_SUB and len(each.inputs) == 1:
            for log in trace.consumers(Produced(each.number, 0)):
                if log.op in ops.LOG:
                    changes[log.number] = instead(lambda p: space.logsigmoid(-seen[0]))
    return changes if len(changes) > 1 else {}


def _log_softmax(space: Any) -> Wrapper:
    def wrapper(inner: Callable[..., Any]) -> Callable[..., Any]:
        def logarithms(scores: Any, *rest: Any, **named: Any) -> Any:
            dim = named.get("dim", rest[0] if rest else -1)
            return space.log_softmax(scores, dim=dim)

        return logarithms

    return wrapper
