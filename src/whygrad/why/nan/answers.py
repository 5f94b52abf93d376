"""Where did the NaN (or Inf) come from?

:func:`why_nan` reads a recorded graph after the fact, forward call by call (:mod:`.recorded`) and
backward with the walk of anomaly mode, or runs a function under anomaly mode.  Who is to blame, and
what to do about it, is decided and worded by :mod:`whygrad.autograd.anomaly_mode`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from whygrad.autograd.anomaly_mode import AnomalyError, detect_anomaly, finite
from whygrad.autograd.anomaly_mode.findings import Finding, Trail
from whygrad.autograd.anomaly_mode.walk import WatchfulWalk
from whygrad.autograd.anomaly_mode.watch import Watch
from whygrad.autograd.anomaly_mode.wording import account
from whygrad.dispatch import quiet
from whygrad.errors import describe, fail
from whygrad.ops.namespace import raw, recorded
from whygrad.source import caller
from whygrad.tensor import Tensor, keys, modes, wrap
from whygrad.tensor.graph.node import AccumulateGrad, Node
from whygrad.tensor.graph.reach import reachable
from whygrad.why.answer import NOTHING_WRONG, Answer, Section, place
from whygrad.why.names import Names
from whygrad.why.nan.leaves import BadLeaf, of_leaves
from whygrad.why.nan.recorded import Gap, RecordedWatch
from whygrad.why.zero.tape import freed_at

__all__ = ["answer_from", "why_nan"]

_WATCH = "pass the computation as a function, why_nan(lambda: …): it is run with every op watched"


def why_nan(loss: Any) -> Answer:
    """Who made the first NaN or Inf that reaches ``loss`` or a gradient of it.

    ``loss`` is a tensor or a ``Value`` with its graph, or a function that computes and returns it.
    A graph is read as it is: nothing is freed, no ``.grad`` changes and hooks are not called.  A
    function is run once, under anomaly mode; what it does itself (drawing random numbers, its own
    ``backward()``) it does.

    The answer's ``cause`` is ``"forward"``, ``"backward"`` (a derivative is not finite),
    ``"given"`` (it was in the data), ``"undecided"`` (values that would tell were not kept) or
    ``"nothing wrong"``.
    """
    if isinstance(loss, Tensor):
        return _of_tensor(loss)
    from whygrad.scalar import Value

    if isinstance(loss, Value):
        from whygrad.why.nan.scalar import of_value

        return of_value(loss)
    if callable(loss):
        return _of_function(loss)
    raise fail(
        TypeError,
        call=f"why_nan({describe(loss)})",
        cause="it needs a tensor, a Value, or a function that returns one",
        fix="pass the loss before backward(), or a function that computes it; for PyTorch's there "
        "is whygrad.torch.why_nan",
    )


def _of_tensor(loss: Tensor) -> Answer:
    names = Names()
    name = names.of_tensor(loss)
    question = f"why_nan({name})"
    array = finite.numbers(loss)
    if array is None:
        raise fail(
            RuntimeError,
            call=question,
            cause=f"{describe(loss)} holds no numbers to look at",
            fix="use a tensor on the cpu",
        )
    kind = quiet.run(finite.trouble, array)
    if loss._node is None:
        return _without_history(question, name, loss, kind)
    nodes = reachable([loss._node])
    watch = RecordedWatch(nodes, names, loss)
    if kind is not None:
        found = watch.cause_of(loss)
        if isinstance(found, Trail):
            written = [] if found.culprits[0].made else _bad_leaves(nodes, names)
            given = of_leaves(question, name, kind, [each for each in written if each.trained])
            return given or answer_from(found, question, f"it reached {name}, which is {kind}")
        _refuse_if_freed(question, nodes)
        given = of_leaves(question, name, kind, _bad_leaves(nodes, names))
        return given or _undecided(question, name, kind, found)
    _refuse_if_freed(question, nodes)
    try:
        with watch.shared():
            _walk_back(loss, watch)
    except AnomalyError as error:
        return answer_from(error.trail, question, error.arrival)
    return _healthy(question, name, loss, nodes, names, watch)


def answer_from(trail: Trail, question: str, arrival: str) -> Answer:
    """What anomaly mode knows, as an answer."""
    finding, told = trail.culprits[0], account(trail)
    cause = "given" if not finding.made else "backward" if finding.backward else "forward"
    parts = (
        ("the first elements", told.here),
        ("the op", told.rule),
        ("who threw it away", told.why[1:]),
        ("what became of it", [*told.then, *([arrival] if arrival else [])]),
        ("the same happened at", told.also),
    )
    sections = tuple(Section(title, tuple(lines)) for title, lines in parts if lines)
    evidence = {
        "op": None if finding.op is None else finding.op.name,
        "kind": finding.kind,
        "backward": finding.backward,
        "count": finding.count,
        "shape": list(finding.shape),
        "elements": [
            {"index": list(each.index), "value": str(each.value), "inputs": _plain(each.inputs)}
            for each in finding.elements
        ],
        "became nan at": None if trail.turned is None else place(trail.turned.where),
    }
    return Answer(
        question,
        cause,
        _headline(finding, told.why[0]),
        finding.where,
        told.fix,
        sections,
        evidence,
    )


def _headline(finding: Finding, why: str) -> str:
    total = math.prod(finding.shape)
    many = "" if total == 1 else f" in {finding.count} of {total} elements"
    if finding.op is None:
        return f"{finding.kind}{many} that no recorded op made: {why}"
    fed = "finite numbers" if finding.fed is None else f"numbers that held {finding.fed}"
    if finding.summed:
        maker = f"adding what {finding.op.name} sends back to other contributions"
    elif finding.backward:
        maker = f"the derivative of {finding.op.name}"
    else:
        maker = finding.op.name
    return f"{maker} made {finding.kind} out of {fed}{many}: {why}"


def _plain(inputs: dict[str, float]) -> dict[str, str]:
    """Numbers as text: JSON has no NaN."""
    return {name: str(value) for name, value in inputs.items()}


def _without_history(question: str, name: str, loss: Tensor, kind: str | None) -> Answer:
    if kind is None:
        return Answer(
            question,
            NOTHING_WRONG,
            f"nothing wrong: {name} is finite, and it has no graph to look for gradients in",
        )
    writer = loss._storage.last_writer
    told = "" if writer is None else f"; {writer[0]} wrote to it last"
    return Answer(
        question,
        "undecided",
        f"{name} holds {kind}, and no graph tells how it was computed{told}",
        None if writer is None else writer[1],
        fix=_WATCH,
    )


def _refuse_if_freed(question: str, nodes: Iterable[Node]) -> None:
    freed = freed_at(nodes)
    if freed is not None:
        raise fail(
            RuntimeError,
            call=question,
            cause=f"the values this graph had saved were freed by the backward() at {freed}",
            fix="ask before backward(), pass retain_graph=True to it, or pass a function: "
            "why_nan(lambda: …)",
        )


def _bad_leaves(nodes: Iterable[Node], names: Names) -> list[BadLeaf]:
    """The leaves of a graph that hold numbers which are not finite, the oldest first."""
    found = []
    for leaf in sorted((each for each in nodes if isinstance(each, AccumulateGrad)), key=_age):
        tensor = leaf.variable
        values = None if tensor is None else finite.numbers(tensor)
        kind = quiet.run(finite.trouble, values)
        if tensor is not None and values is not None and kind is not None:
            writer, where = tensor._storage.last_writer or (None, None)
            known = names.of_node(leaf)
            found.append(BadLeaf(known, kind, values, writer is not None, writer, where))
    return found


def _undecided(question: str, name: str, kind: str, gap: Gap | None) -> Answer:
    nodes = () if gap is None else gap.candidates
    lines = tuple(f"{node.plan.op.name} at {node.where}" for node in nodes)
    if len(nodes) > 1:
        first, last = nodes[0].where.line, nodes[-1].where.line
        between = f"on line {first}" if first == last else f"between line {first} and line {last}"
        headline = f"{name} holds {kind}, made {between}: the values in between were not kept"
    elif nodes:
        op = nodes[0].plan.op.name
        headline = f"{name} holds {kind}, made by {op} or in an argument of it that was not kept"
    else:
        headline = f"{name} holds {kind}, and the values that would tell why were not kept"
    return Answer(
        question,
        "undecided",
        headline,
        nodes[-1].where if nodes else None,
        fix=_WATCH,
        sections=(Section("it is one of", lines),) if lines else (),
    )


class _Unhooked(WatchfulWalk):
    """The walk of anomaly mode, without the user's hooks."""

    def _arrived(self, node: Node, incoming: Any) -> Any:
        self.reached = node
        if node.plan is None:
            self.pending[node] = incoming
            self.leaves.append(node)
            return None
        return incoming


def _walk_back(loss: Tensor, watch: Watch) -> None:
    """Look at every gradient of ``loss``; changes nothing."""
    one = wrap(np.ones(loss._array.shape, loss._array.dtype)).to(loss.device)
    plain = not loss._keys & (keys.LAYOUTS | keys.FORWARD) and bool(loss._keys & keys.CPU)
    outer, modes.state.watch = modes.state.watch, watch
    try:
        walk = _Unhooked(True, False, caller(), raw if plain else recorded, None)
    finally:
        modes.state.watch = outer
    walk.begin(loss, one._array if plain else one)
    if plain:
        quiet.run(walk.run)
        walk.finish()
    else:
        with modes.no_grad():
            walk.run()
            walk.finish()


def _healthy(
    question: str, name: str, loss: Tensor, nodes: set[Node], names: Names, watch: Watch
) -> Answer:
    leaves = sorted((each for each in nodes if isinstance(each, AccumulateGrad)), key=_age)
    kept = [line for leaf in leaves for line in _kept_gradient(leaf, names)]
    if kept:
        return Answer(
            question,
            "given",
            f"{name} and its gradients are finite, but {kept[0]}: backward() adds to it",
            fix="clear it before backward(): zero_grad(), or .grad = None",
            sections=(Section("gradients that were there before", tuple(kept)),),
        )
    value = f" ({name} = {float(np.real(loss._array.ravel()[0])):.4g})" if loss.numel() == 1 else ""
    harmless = tuple(_harmless(each) for each in watch.harmless)
    return Answer(
        question,
        NOTHING_WRONG,
        f"nothing wrong: {name} and every gradient of it are finite{value}",
        sections=(Section("not finite on the way, without harm", harmless),) if harmless else (),
    )


def _age(node: Node) -> int:
    return -node.order


def _kept_gradient(leaf: AccumulateGrad, names: Names) -> list[str]:
    tensor = leaf.variable
    gradient = None if tensor is None else finite.numbers(tensor._grad)
    kind = quiet.run(finite.trouble, gradient)
    if kind is None or gradient is None:
        return []
    bad = np.isnan(gradient) if kind == "nan" else np.isinf(gradient)
    count = f"{int(bad.sum())} of {gradient.size} elements"
    return [f"{names.of_node(leaf)}.grad already holds {kind} in {count}"]


def _harmless(finding: Finding) -> str:
    what = finding.op.name if finding.op is not None else finding.writer
    return f"{what} made {finding.kind} at {finding.where}"


def _of_function(function: Callable[[], Any]) -> Answer:
    """Run it with every op watched."""
    label = getattr(function, "__name__", type(function).__name__)
    question = f"why_nan({'lambda: …' if label == '<lambda>' else label})"
    try:
        with detect_anomaly() as watch:
            loss = function()
            if isinstance(loss, Tensor) and loss._node is not None:
                _walk_back(loss, watch)
    except AnomalyError as error:
        return answer_from(error.trail, question, error.arrival)
    if not isinstance(loss, Tensor):
        from whygrad.scalar import Value

        if isinstance(loss, Value):
            return replace(why_nan(loss), question=question)
    else:
        array = finite.numbers(loss)
        kind = None if array is None else quiet.run(finite.trouble, array)
        if kind is not None:
            arrival = f"it reached the result, {describe(loss)}"
            return answer_from(watch.trail(loss, kind), question, arrival)
    harmless = tuple(_harmless(each) for each in watch.harmless)
    return Answer(
        question,
        NOTHING_WRONG,
        "nothing wrong: no NaN or Inf reached the result or a gradient of it",
        sections=(Section("not finite on the way, without harm", harmless),) if harmless else (),
    )
