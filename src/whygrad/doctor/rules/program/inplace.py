"""Values that the backward pass needs and that a line overwrites.

An op keeps its input or output for its derivative.  Whoever writes over it does so on some line of
the program; the engine's exception names another one, or, for a write through ``.data``, none: then
the gradient is measured against differences of the loss.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.program.graph_lifetime import exception, no_exception
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.rules.words import few, quoted
from whygrad.doctor.source.lines import place, raised
from whygrad.ops.families import ADD, DETACHES, DIV, MUL, SETITEM, STEPS, SUB
from whygrad.recording.calls import Produced, RecordedCall
from whygrad.recording.record import Pass, Snapshot
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.trainer import norm

__all__: list[str] = []

_OVERWRITTEN = "modified by an inplace operation"
_REFUSED = re.compile(
    r"leaf Variable that requires grad.{0,60}in-place operation|is being modified inplace",
    re.DOTALL,
)
_SIGNS = (("*", MUL), ("+", ADD), ("-", SUB), ("/", DIV))


@rule(
    severity=3,
    thresholds={
        "error": (0.2, "between claimed and measured slope: float32 differences are no better"),
        "reach": (3e-3, "of the parameters' size: how far the loss is followed"),
        "farther": (1e-2, "the same for a second look: a slope does not depend on the reach"),
        "steady": (0.1, "between the two looks: more is curvature or a jump"),
        "floor": (1e-3, "below it sizes and slopes count as this much"),
        "letters": (4, "of an op's name by which PyTorch's node of it is known"),
        "values": (8, "fewer say nothing about being stepwise"),
        "levels": (0.1, "as many different values as elements at most: it was rounded"),
    },
    cleared=lambda case: no_exception(case, "overwritten"),
)
def inplace_corruption(case: Case) -> Iterator[Finding]:
    """A value that the backward pass needs is overwritten.

    An op keeps its input or output for its derivative, and a later line writes over it in
    place. The engine notices and refuses, or, if the write went through .data, it does not, and
    computes gradients from the wrong numbers.

    Measured: The exception of backward() and the writes of that step to the tensor it names.
    Writes through .data: the gradient of the replayed step against finite differences of its
    loss.
    Fix: Compute a new tensor instead of writing into the old one.
    Guardrail: value = value * gate  # not: value *= gate, where value is needed by backward()
    """
    error, failed = exception(case, _OVERWRITTEN)
    if error is not None:
        yield _crashed(case, str(error), failed)
        return
    text = "" if case.run.error is None else str(case.run.error)
    if _REFUSED.search(text):
        lines = raised(case.run.error)
        yield inplace_corruption.finding(
            "a parameter is changed in place while gradients are recorded: refused",
            where=lines[-1] if lines else None,
            step=len(case.run.passes),
            proof=Proof.RAISED,
            fix="Update under no_grad: with torch.no_grad(): w -= lr * w.grad",
        )
        return
    yield from _silent(case)


def _crashed(case: Case, text: str, failed: Pass | None) -> Finding:
    """Find the line that wrote."""
    snapshot = (failed.snapshot if failed is not None else None) or case.run.last_snapshot
    told = re.search(r"(\w+) wrote to this memory at (.+?):(?P<line>\d+)", text)
    writer, where = None, None
    if told is not None:
        line = int(told["line"])
        writer = next((each for each in _writes(snapshot) if each.where.line == line), None)
        file = case.run.script or (failed.where.file if failed is not None else "")
        where = writer.where if writer is not None else place(file, line)
    elif snapshot is not None:
        writer = _writer(case, snapshot, text)
        where = None if writer is None else writer.where
    number = len(case.run.passes) - 1 if failed is None else failed.number
    evidence = ["backward() stopped: " + quoted(text)]
    fix = inplace_corruption.fix
    if writer is not None:
        evidence.append(
            f"{writer.op} writes into a tensor of this step that was kept for backward()"
        )
        fix = _without_writing(writer)
    elif where is None or told is None:
        updates = [step for course in case.courses for step in course.steps if step.where]
        where = updates[-1].where if updates else (failed.where if failed is not None else None)
        evidence.append("no line of this step wrote to it: the update of the parameters did")
        fix = (
            "Call every backward() that uses the old parameters before optimizer.step(), or "
            "compute the loss again after it."
        )
    return inplace_corruption.finding(
        *evidence,
        where=where,
        step=number,
        proof=Proof.RAISED if writer is not None else Proof.INFERRED,
        places=[("noticed here", None if failed is None else failed.where)],
        fix=fix,
    )


def _writes(snapshot: Snapshot | None) -> list[RecordedCall]:
    """The calls of a step that write to a tensor, in order."""
    if snapshot is None:
        return []
    calls = (*snapshot.calls.values(), *snapshot.loose)
    return sorted((each for each in calls if each.writes), key=lambda call: call.number)


def _writer(case: Case, snapshot: Snapshot, text: str) -> RecordedCall | None:
    """The write to what PyTorch describes by its shape and by the op that made it."""
    shape = re.search(r"\[torch\.\w+ \[([\d, ]*)\]\]", text)
    wanted = (
        None if shape is None else [int(each) for each in shape.group(1).split(",") if each.strip()]
    )
    maker = re.search(r"output \d+ of (\w+?)(?:Backward\d*)?,", text)
    trace = case.trace(snapshot)
    known = {} if trace is None else {each.number: each for each in trace.calls}
    letters = int(case.limit("letters"))
    fitting: list[tuple[int, RecordedCall]] = []
    for call in _writes(snapshot):
        target = call.args[0] if call.args else None
        traced = known.get(call.number)
        size = list(traced.inputs[0].shape) if traced is not None and traced.inputs else None
        source = snapshot.calls.get(target.call) if type(target) is Produced else None
        if isinstance(target, snapshot.engine.tensor) and target.is_leaf:  # type: ignore[attr-defined]
            continue
        made = source is not None and maker is not None
        made = made and maker.group(1).lower().startswith(source.op[:letters])  # type: ignore[union-attr]
        fitting.append(((size == wanted) + 2 * made, call))
    return max(fitting, key=lambda each: each[0])[1] if fitting else None


def _without_writing(writer: RecordedCall) -> str:
    name = writer.op.rstrip("_")
    if writer.op in SETITEM:
        return "Build the tensor without assigning into it: torch.where(mask, new, old), torch.cat."
    sign = next((sign for sign, family in _SIGNS if writer.op in family), None)
    if sign is not None:
        return f"Make a new tensor: x = x {sign} y instead of x {sign}= y or x.{writer.op}(y)."
    return f"Make a new tensor: x = x.{name}(…) instead of x.{writer.op}(…)."


# --- by the back door -----------------------------------------------------------------------------


def _silent(case: Case) -> Iterator[Finding]:
    """Writes through .data into a value of the graph, if the gradients are wrong because of it."""
    snapshot = case.first
    trace = case.trace(snapshot)
    if snapshot is None or trace is None or not trace.reproduced or trace.error is not None:
        return
    writers = [each for each in trace.calls if each.call.writes and _behind(trace, each)]
    writers = [
        each for each in writers if each.op not in STEPS and not _is_stepwise(case, trace, each)
    ]
    if not writers:
        return
    upstream = {
        name
        for each in writers
        for name, leaf in trace.parameters.items()
        for number in (*trace.ancestors(each), each.number)
        if (made := trace.made_by(Produced(number, 0))) is not None
        and any(given is leaf for given in made.inputs)
    }
    measured = _slopes(case, snapshot, trace, upstream)
    if measured is None:
        return
    true, claimed = measured
    if abs(true - claimed) <= case.limit("error") * max(abs(true), abs(claimed)):
        return
    first = writers[0]
    yield inplace_corruption.finding(
        f"{first.op} writes through .data into a value that the backward pass uses: no check "
        "can see that",
        f"along the gradient the loss changes at a rate of {true:.4g}; backward() says "
        f"{claimed:.4g}",
        where=first.where,
        proof=Proof.REPLAYED,
        places=[("and here", each.where) for each in few(writers[1:]) if each.where != first.where],
        fix=f"Do not write through .data. {_without_writing(first.call)}",
        remedy="the fix puts a new tensor in the place of a write",
    )


def _behind(trace: Trace, call: Traced) -> bool:
    """Whether the target of a write is another name for a computed value with a gradient."""
    alias = trace.made_by(call.sources[0]) if call.sources else None
    while alias is not None and alias.op not in DETACHES and alias.sources and alias.call.writes:
        alias = trace.made_by(alias.sources[0])
    if alias is None or alias.op not in DETACHES or not alias.sources:
        return False
    return alias.sources[0] is not None and bool(alias.inputs[0].requires_grad)


def _is_stepwise(case: Case, trace: Trace, call: Traced) -> bool:
    """Whether what was written has only a few values, as after rounding."""
    if not call.outputs or not isinstance(call.outputs[0], trace.engine.tensor):
        return False
    values = trace.array(call.outputs[0])
    return bool(
        values.size >= case.limit("values")
        and np.unique(values).size <= max(2, case.limit("levels") * values.size)
    )


def _slopes(
    case: Case, snapshot: Snapshot, trace: Trace, names: set[int]
) -> tuple[float, float] | None:
    """How fast the loss changes along the gradient of these leaves: measured, and as claimed."""
    gradients = {name: trace.gradients[name] for name in names if name in trace.gradients}
    length = norm(gradients)
    if not length > 0 or not np.isfinite(length):
        return None
    engine = snapshot.engine
    namespace: Any = engine.namespace
    values = {name: engine.array(snapshot.values[name]) for name in gradients}
    size, found, floor = norm(values), [], case.limit("floor")
    for part in (case.limit("reach"), case.limit("farther")):
        reach = part * max(size, floor)
        ends = [
            trace.again(backward=False, values={name: namespace.as_tensor(
                (each + sign * reach * gradients[name] / length).astype(each.dtype))
                for name, each in values.items()}).loss
            for sign in (1.0, -1.0)
        ]  # fmt: skip
        found.append((ends[0] - ends[1]) / (2 * reach))
    steady = abs(found[0] - found[1]) <= case.limit("steady") * max(
        abs(found[0]), abs(found[1]), floor * length
    )
    return (found[0], length) if steady and np.isfinite(found[0]) else None
