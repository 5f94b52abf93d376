"""The recipe of a step in another form: shorter, or with one call changed.

Between the data and the model a program may do a lot (build a data set, pick a batch, scale it),
and all of it is in the recipe of a step.  An experiment that runs the step fifty times computes
that part once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from whygrad.recording.calls import Produced
from whygrad.recording.engines import Engine
from whygrad.recording.record import Snapshot
from whygrad.recording.replay.budget import Budget, work_of
from whygrad.recording.replay.trace import Trace

__all__ = ["Wrapper", "condensed", "differentiable", "passed_on", "swapped", "tensor_like"]

Wrapper = Callable[[Callable[..., Any]], Callable[..., Any]]


def tensor_like(engine: Engine, array: np.ndarray[Any, Any]) -> Any:
    """A tensor of the engine with these values."""
    namespace: Any = engine.namespace
    with engine.unwatched():
        return namespace.tensor(np.ascontiguousarray(array))


def swapped(snapshot: Snapshot, other: Mapping[int, Wrapper]) -> Snapshot:
    """The step with other functions: the number of a call → a wrapper for its own function."""
    calls = dict(snapshot.calls)
    for number, wrapper in other.items():
        changed = copy(calls[number])
        changed.function = wrapper(changed.function)
        calls[number] = changed
    return replace(snapshot, calls=calls)


def passed_on(inner: Callable[..., Any]) -> Callable[..., Any]:
    """A wrapper: what goes into the call comes out again."""
    return lambda given, *rest, **named: given


def differentiable(snapshot: Snapshot, leaves: Mapping[int, Any] | None = None) -> Snapshot:
    """The step with calls that also take what now requires grad: an engine may have bound them.

    ``leaves``, by their ids, are trained from now on.
    """
    calls = {}
    for number, call in snapshot.calls.items():
        calls[number] = copy(call)
        calls[number].function = snapshot.engine.unbound(call.op, call.function)
    leaves = leaves or {}
    values = {name: snapshot.engine.copy(leaf) for name, leaf in leaves.items()}
    return replace(
        snapshot,
        calls=calls,
        values={**values, **snapshot.values},
        leaves={**leaves, **snapshot.leaves},
    )


def condensed(snapshot: Snapshot, budget: Budget) -> Snapshot:
    """The same step, with the results of calls that no parameter reaches in the place of them."""
    trace = budget.replay(snapshot, backward=False)
    if trace.error is not None:
        return snapshot
    varying = _varying(trace)
    known = {each.number: each.outputs for each in trace.calls if each.number not in varying}

    def result(each: Any) -> Any:
        made = type(each) is Produced and each.call in known
        return known[each.call][each.place] if made else each

    calls = {
        number: call.with_arguments(result)
        for number, call in snapshot.calls.items()
        if number in varying
    }
    if snapshot.loss is None or snapshot.loss.call not in calls:
        return snapshot
    short = replace(snapshot, calls=calls)
    budget.note(short, sum(work_of(each) for each in trace.calls if each.number in varying))
    return short


def _varying(trace: Trace) -> set[int]:
    """The calls that depend on a parameter, and those whose results such a call writes into."""
    found: set[int] = set()
    for each in trace.calls:
        learned = any(source is not None and source.call in found for source in each.sources)
        if learned or any(
            given.requires_grad
            for given, source in zip(each.inputs, each.sources)
            if source is None
        ):
            found.add(each.number)
            target = each.sources[0] if each.call.writes and each.sources else None
            made = trace.made_by(target)
            if made is not None and made.number not in found:
                found |= {made.number} | trace.ancestors(made)
    return found
