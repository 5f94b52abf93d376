"""Graphs that are walked twice, or kept when their step is over.

The engine's exception names the line of backward(); the line to blame is the one that brought a
tensor of an earlier step along.  Nothing at all is said of graphs that are only kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.lines import code_at, collected, raised
from whygrad.doctor.source.statements import running_total
from whygrad.recording.calls import RecordedCall, members
from whygrad.recording.record import Pass
from whygrad.source import Where

__all__ = ["exception", "no_exception"]

_TWICE = "through the graph a second time"


@rule(severity=3, cleared=lambda case: no_exception(case, "walked twice"))
def freed_graph(case: Case) -> Iterator[Finding]:
    """backward() runs a second time through the same graph.

    The first backward() released what the graph had kept. A second one that gets there, because
    a tensor of an earlier step (a hidden state, a penalty computed before the loop) is part of
    the new loss, cannot compute anything.

    Measured: The exception of backward(), and the tensor from before the last pass in this
    loss.
    Fix: Compute it anew in every step, or detach() what is carried over.
    Guardrail: state = state.detach()  # at the beginning of every step
    """
    error, failed = exception(case, _TWICE)
    if error is None:
        return
    where = failed.where if failed is not None else next(iter(reversed(raised(error))), None)
    number = len(case.run.passes) - 1 if failed is None else failed.number
    same, carried = _shared(case, failed)
    evidence = [f"backward() number {number + 1} came to a part of the graph that the one before "
                "had released"]  # fmt: skip
    fix = freed_graph.fix
    if same:
        evidence.append("it is the same loss: backward() was called on it before")
        fix = "Call backward() once per loss; add several losses up and call it on the sum."
    elif carried is not None:
        made, used = carried
        evidence.append(f"{used.op}() here uses the result of {made.op}() from before that")
        fix = (
            "Cut the connection where the step begins (state = state.detach()), or compute the "
            "tensor anew inside the loop. If both losses belong to one step, add them up first."
        )
    words = ("made here, before the last backward()", "used again here")
    places = [(word, call.where) for word, call in zip(words, carried or ())]
    updated = any(course.steps for course in case.run.courses)  # else both losses are of one step
    brought = None if carried is None or not updated else _brought_along(failed, *carried)
    if brought is not None and where is not None:
        places.append(("backward() is called here", where))
    yield freed_graph.finding(
        *evidence, where=brought or where, step=number, proof=Proof.RAISED, places=places, fix=fix
    )


def _brought_along(failed: Pass | None, made: RecordedCall, used: RecordedCall) -> Where | None:
    """The line that brings an old result into a step.

    Of what is made once, that is where it is made; of a state that each step leaves to the next,
    the program's own call of the model that uses it.
    """
    if made.where != used.where:
        return made.where
    snapshot = None if failed is None else failed.snapshot
    for mark in () if snapshot is None else snapshot.marks:
        inside = range(mark.before, mark.after)
        if snapshot and not mark.depth and any(snapshot.calls.get(it) is used for it in inside):
            return mark.where
    return used.where


@rule(
    severity=1,
    thresholds={
        "passes": (20, "a history of fewer steps is small"),
        "alive": (0.8, "of the earlier graphs: a window of recent ones is deliberate"),
        "carried": (0.25, "of the watched steps add to a graph of earlier ones"),
        "times": (10, "at least: back-propagation through time carries a few"),
    },
    cleared=lambda case: _graphs_alive(case),
)
def graph_kept_alive(case: Case) -> Iterator[Finding]:
    """The graphs of earlier steps are kept in memory.

    A loss or an output that is stored or summed up as a tensor keeps its graph, with all the
    nodes of its step. Memory grows with every step until it is used up, and every addition to a
    running total makes its graph longer.

    Measured: At sampled passes, how many earlier passes have a loss or an output that is alive
    and has a graph; and lines whose result has, in its graph, those of many updates before.
    Fix: Store numbers: history.append(loss.item()), total += loss.item().
    Guardrail: assert not total.requires_grad  # or: isinstance(total, float)
    """
    passes = len(case.run.passes)
    if passes < case.limit("passes") or not case.courses:
        return
    retained = [each for each in case.run.retained if each[0] >= case.limit("passes") / 2]
    if retained and all(alive >= case.limit("alive") * number for number, alive in retained):
        number, alive = retained[-1]
        file = case.run.passes[-1].where.file
        carried = case.run.carried
        sums = sorted(carried, key=lambda line: -carried[line])
        lines = [collected(file, case.run.holders), *sums, case.run.passes[-1].where]
        where = next(each for each in lines if each is not None)
        held = f" in {case.run.holders[0]}" if case.run.holders else ""
        yield graph_kept_alive.finding(
            f"at step {number} the graphs of {alive} steps are alive{held}",
            where=where,
            proof=Proof.RECORDED if case.run.holders else Proof.INFERRED,
            **_as_numbers(where),
        )
        return
    line, times = max(case.run.carried.items(), key=lambda each: each[1], default=(None, 0))
    watched = min(passes, case.run.watched)  # of a run that goes well, not every step is
    if line is not None and times >= max(case.limit("times"), case.limit("carried") * watched):
        yield graph_kept_alive.finding(
            f"{times} of {passes} steps add to a tensor that has the graphs of earlier steps "
            "in its own",
            where=line,
            proof=Proof.RECORDED,
            **_as_numbers(line),
        )


def _as_numbers(where: Where) -> dict[str, Any]:
    """The fix for a line that adds to a tensor; for one that stores them, that of the rule."""
    facts: dict[str, Any] = {"remedy": "it is about memory, not about what is learned"}
    total = running_total(where)
    if total is not None:
        facts["fix"] = (
            f"In `{code_at(where)}`: add a number to {total}, or a tensor without a graph. Put "
            f".item() or .detach() behind what is added."
        )
        facts["guardrail"] = f"assert not getattr({total}, 'requires_grad', False)"
    return facts


def exception(case: Case, text: str) -> tuple[BaseException | None, Pass | None]:
    """The exception with this text, and the pass that raised it if it was one."""
    for each in case.run.passes:
        if each.error is not None and text in str(each.error).lower():
            return each.error, each
    error = case.run.error
    return (error, None) if error is not None and text in str(error).lower() else (None, None)


def no_exception(case: Case, what: str) -> str | None:
    passes = len(case.run.passes)
    return f"no graph of {passes} passes was {what}" if passes and not case.run.error else None


def _shared(
    case: Case, failed: Pass | None
) -> tuple[bool, tuple[RecordedCall, RecordedCall] | None]:
    """Whether the loss is that of the pass before; if not, the old result in it and its use."""
    snapshot = None if failed is None else failed.snapshot
    before = next(
        (each.snapshot for each in reversed(case.run.passes)
         if failed is not None and each.number < failed.number and each.snapshot), None
    )  # fmt: skip
    if snapshot is None or before is None or before.loss is None or snapshot.loss is None:
        return False, None
    if snapshot.loss == before.loss:
        return True, None
    last = before.loss.call
    learned: set[int] = set()  # data that were laid out before have no graph
    for number, call in snapshot.calls.items():
        if any(id(each) in snapshot.leaves for each in members([call.args, call.kwargs])):
            learned.add(number)
        for source in call.sources():
            made = snapshot.calls.get(source.call)
            if source.call not in learned or made is None:
                continue
            learned.add(number)
            if number > last >= source.call:
                return False, (made, call)
    return False, None


def _graphs_alive(case: Case) -> str | None:
    if not case.run.retained:
        return None
    number, alive = case.run.retained[-1]
    carried = max(case.run.carried.values(), default=0)
    if alive >= max(2, case.limit("alive") * number) or carried >= case.limit("times"):
        return None
    return f"{alive} graph{'s' if alive != 1 else ''} alive at pass {number}"
