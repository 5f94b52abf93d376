"""Terms of a loss that change its value and nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.cuts import Cut, Ways, has_history
from whygrad.doctor.rules.cuts import CUTS, connected
from whygrad.doctor.rules.program.gradient_flow import groups
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.rules.words import listed
from whygrad.doctor.source.lines import names_at
from whygrad.doctor.source.reader import called, source_of
from whygrad.doctor.source.statements import assigned_through
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced, RecordedCall
from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay import Trace, Traced
from whygrad.source import Where
from whygrad.why.dataflow import used_at

__all__: list[str] = []

_THROUGH = ops.SCALINGS | ops.NEG | ops.RESHAPING | ops.CASTS | ops.TOTALS


class _Summand(NamedTuple):
    """What is added up to the loss: where, what, and the call that made it, if one did."""

    joined: Traced
    value: Any
    made: Traced | None
    kept: Any = None  # the program's own tensor, if no call made it


class _Dead(NamedTuple):
    joined: Where
    cut: Where
    kind: str  # of the cut
    value: float
    parameters: frozenset[int]

    def same_as(self, other: _Dead) -> bool:
        return self.cut == other.cut  # another phase may add it elsewhere


@rule()
def dead_loss_term(case: Case, course: Course) -> Iterator[Finding]:
    """A term of the loss has no gradient.

    A penalty or a second loss is added, and the printed number contains it. But it was computed
    from values outside of the graph (weight.data, detach(), no_grad(), item(), NumPy), so for
    backward() it is a constant: training goes on as if it was not there.

    Measured: The loss is taken apart into what is added up to it, at the first and at the latest
    recorded step. A term that is computed from parameters being trained, and has no history,
    is reported; not if the same value is also used inside the graph, or if the term is made
    of another one, as where only the number that is shown is to be changed.
    Fix: Compute the term from the parameters and outputs themselves.
    Guardrail: assert penalty.requires_grad
    """
    first, last = course.first, course.last
    if first is None or last is None or first is last:
        return
    for term in _dead_terms(case, course, first):
        same = [each for each in _dead_terms(case, course, last) if each.same_as(term)]
        later = same[0].value if same else term.value
        ended = case.trace(last)
        known = ended is not None and ended.error is None
        if known and later == term.value and first.value != last.value:
            continue
        used = [each for each in course.parameters if id(each.tensor) in term.parameters]
        replayed = case.trace(first)
        amount = (
            f" ({term.value:.4g} of {first.value:.4g} at first, {later:.4g} of {last.value:.4g} "
            "later)"
            if known and replayed is not None and replayed.reproduced
            else ""
        )
        written = assigned_through(term.cut, "data")  # a value that no assignment takes otherwise
        yield dead_loss_term.finding(
            f"a term of the loss{amount} is computed from {listed(groups(case, used))}, and "
            f"{CUTS[term.kind][0]} on the way",
            "for backward() it is a constant: no gradient of it reaches what it is computed from",
            where=term.cut,
            proof=Proof.REPLAYED,
            parameters=[each.name for each in used],
            places=[("added to the loss here", None if term.cut == term.joined else term.joined)],
            fix=_FIXES.get(term.kind, _INSIDE) if not written else _INSIDE,
            remedy=connected(first, term.cut),
        )
        return


_INSIDE = "Compute the term from tensors with a history, so that its gradient trains something."
_FIXES = {
    "copied": "Put the tensors together by torch.stack(), which keeps their history.",
    "data": "Leave out .data: the term is then part of the graph.",
    "detach": "Leave out .detach(): the term is then part of the graph.",
    "item": "Keep the tensor: leave out item() and float(), which return plain numbers.",
    "no_grad": "Compute the term outside no_grad().",
    "sampled": "Draw with rsample(), or mean + std * torch.randn_like(std).",
    "numpy": "Use the tensor functions (torch.diff instead of np.diff): NumPy has no gradients.",
}


def _dead_terms(case: Case, course: Course, snapshot: Snapshot) -> list[_Dead]:
    trace = case.trace(snapshot)
    if trace is None or trace.error is not None or trace.root is None:
        return []  # how it hangs together is known, whatever the numbers are
    trained = {id(each.tensor) for each in course.parameters if each.requires_grad}
    summands = list(_summands(trace))
    ways = Ways(trace)
    return [
        dead
        for each in summands
        if (
            dead := _dead(ways, summands, each, trained) or _a_number(ways, summands, each, trained)
        )
    ]


def _summands(trace: Trace) -> Iterator[_Summand]:
    """What is added up to the loss, numbers included; factors before it are looked through."""
    waiting = [trace.root]
    for call in waiting:  # grows while it is walked
        if call is None:
            continue
        if call.op in ops.SHIFTS or call.op in ops.STACK:
            for given, kept, source in zip(call.inputs, call.kept, call.sources):
                if given.numel() == 1:
                    made = trace.made_by(source)
                    waiting += [made] if given.requires_grad else []
                    yield _Summand(call, given, made, kept)
            if call.op in ops.SHIFTS:
                numbers = (each for each in call.args if _is_number(each))
                yield from (_Summand(call, each, None) for each in numbers)
        elif call.op in _THROUGH:
            waiting += [
                trace.made_by(source)
                for given, source in zip(call.inputs[:2], call.sources)
                if given.requires_grad and (given.numel() == 1 or _is_stack(trace, source))
            ]


def _is_stack(trace: Trace, source: Produced | None) -> bool:
    made = trace.made_by(source)
    return made is not None and made.op in ops.STACK


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or (hasattr(value, "dtype") and not hasattr(value, "numel"))


def _dead(ways: Ways, summands: list[_Summand], term: _Summand, trained: set[int]) -> _Dead | None:
    """A tensor without a past that is computed from parameters of this step."""
    made, trace = term.made, ways.trace
    if getattr(term.value, "requires_grad", True):
        return None
    before = set() if made is None else trace.ancestors(made)
    dead = {term.joined.number} if made is None else ways.without_history(made)
    cuts = [
        each for each in ways.cuts(trained, dead) if made is not None or each.value is term.kept
    ]
    replaced = any(
        each.made is not None and each.made.number in before
        for each in summands
        if each.made is not made and each.made is not None and has_history(each.made)
    )
    if not cuts or replaced or any(each.op == "grad" for each in map(trace.call, dead) if each):
        return None
    lost = ways.after(each.number for each in cuts if made is not None)
    unseen = {id(each.value) for each in cuts if each.value is not None}
    joins = {each.joined.number for each in summands}
    for call in trace.calls if not _draws_weights(trace, cuts, dead) else ():
        given = any(each.call in lost for each in call.sources if each is not None)
        given |= any(id(each) in unseen for each in call.kept)
        if given and call.number not in joins and has_history(call):
            return None  # the same value is used inside the graph
    used = frozenset(leaf for leaf in trained if ways.cuts([leaf], dead))
    # A factor that is cut with detach() may be meant as a weight; a copy is not meant to be cut.
    cut = next((each for each in cuts if each.kind == "copied"), cuts[-1])
    return _Dead(term.joined.where, cut.where, cut.kind, float(term.value.item()), used)


def _draws_weights(trace: Trace, cuts: list[Cut], dead: set[int]) -> bool:
    """Whether what was drawn are the weights of layers: their density may have a gradient of its
    own, which says nothing of the data.
    """
    drawn = {id(each.value) for each in cuts if each.kind == "sampled"}
    layers = (trace.call(each) for each in dead)
    return len(drawn) == len(cuts) and any(
        each is not None and each.op in ops.LINEAR and any(id(it) in drawn for it in each.kept[1:])
        for each in layers
    )


def _a_number(
    ways: Ways, summands: list[_Summand], term: _Summand, trained: set[int]
) -> _Dead | None:
    """A number that the program took out of tensors of this step, by the names of its text."""
    if term.made is not None or getattr(term.value, "requires_grad", False):
        return None
    snapshot, joined = ways.trace.snapshot, term.joined
    learned = ways.computed_from(trained)
    terms = {each.made.number for each in summands if each.made is not None}
    known: dict[int, RecordedCall] = {}
    for call in sorted(snapshot.loose, key=lambda each: each.number):
        given = any(source.call in learned for source in call.sources())
        if given or any(id(each) in trained for each in call.args):
            learned.add(call.number)
            known[call.number] = call
    for call in known.values():
        if call.number > joined.number or call.op not in ops.LEAVING or call.op == "bool":
            continue
        if any(source.call in terms for source in call.sources()):
            continue  # made of another term: only the number that is shown is changed
        if _leads_to(call.where, joined.where):
            kind = "numpy" if call.op in ("numpy", "array", "tolist") else "item"
            return _Dead(joined.where, call.where, kind, float(term.value), frozenset(trained))
    return None


def _leads_to(start: Where, end: Where) -> bool:
    """Whether what a line takes out is used on another, perhaps as what its function returns."""
    if used_at(start, [end]) is not None:
        return True
    name = [each for each in start.function.split(".") if not each.startswith("<")][-1:]
    if set(name) & set(names_at(end)):
        return True
    source = source_of(end)
    calls = [source.place(each.lineno) for each in source.nodes(ast.Call) if called(each) in name]
    return any(used_at(each, [end]) is not None for each in calls if each is not None)
