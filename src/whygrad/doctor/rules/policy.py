"""A policy that makes what paid well less likely: its loss lacks the minus.

The loss of a policy gradient is minus the log-probability of what was drawn, times what it paid.  A
product alone does not tell a reward from a cost, so the program is asked: the variable that holds
the factor is called a reward, a return or an advantage.  And what was paid did not grow in the run.
"""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.measures import Measure, Sign, sign_of
from whygrad.doctor.rules.rule import Proof
from whygrad.doctor.source.lines import loss_assigned
from whygrad.doctor.source.opposites import parts_at
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.variables import key_of

__all__ = ["rewarded_less"]

Told = tuple[list[str], dict[str, Any]]  # the evidence, and the rest of a finding
_PAID = re.compile(r"rew|ret(urn)?s?$|return|adv|gain|score|^[RG]s?$|payoff", re.IGNORECASE)
_COST = re.compile(r"cost|loss|penal|regret|risk|err|neg", re.IGNORECASE)
_EXPECTED = re.compile(r"val|base|critic|expect|^v[s_]?|_v$|mean|avg", re.IGNORECASE)
_NOTHING = 1e-6  # the mean of what was shifted to zero
_SHIFTING = ops.SUB | ops.DIV | ops.ADD | ops.MUL | ops.RESHAPING | ops.JOINS | ops.CASTS


def rewarded_less(case: Case, course: Course) -> Told | None:
    """What is told of a course whose loss grows with the log-probability of what paid well."""
    first, last = case.trace(course.first), case.trace(course.last)
    if first is None or last is None or first is last or not first.reproduced:
        return None
    found, later = _product(first), _product(last)
    if found is None or later is None or found[0].where != later[0].where:
        return None
    product = found[0]
    turned = [_turned(each, one[0]) for each, one in ((first, found), (last, later))]
    signs = [
        (one[1].value or 0) * (1 if each is None else -1)
        for one, each in zip((found, later), turned)
    ]
    if signs != [1, 1]:
        return None
    name = _name_of_factor(first.snapshot, product)
    paid = [_paid(each, one[0]) for each, one in ((first, found), (last, later))]
    if name is None or abs(paid[0]) < _NOTHING or not paid[1] < paid[0]:
        return None
    backward = course.steps[0].passes[-1].where if course.steps[0].passes else None
    where = (None if backward is None else loss_assigned(backward)) or product.where
    if turned[0] is not None:
        return _subtracted(turned[0], name, paid)
    return (
        [
            f"the log-probability of what was drawn, times {name}, enters the loss with a plus: a "
            "smaller loss makes what paid well less likely",
            f"what was paid went from {paid[0]:.4g} on average at the first step to {paid[1]:.4g} "
            "at the latest one",
        ],
        {
            "where": where,
            "proof": Proof.INFERRED,
            "fix": f"Minimise minus the product: -(log_prob * {name}).mean().",
            "places": [
                ("the product", None if where.line == product.where.line else product.where)
            ],
        },
    )


def _subtracted(turned: Traced, name: str, paid: list[float]) -> Told:
    """What is told of an advantage that is what was expected minus what was paid."""
    parts = parts_at(turned.where)
    expected, got = map(ast.unparse, parts[1][:2]) if parts else ("the value", "the return")
    return (
        [
            f"{name} is {expected} minus {got}: it is large where less was paid than expected, "
            "and a smaller loss makes that more likely",
            f"what was paid went from {paid[0]:.4g} on average at the first step to {paid[1]:.4g} "
            "at the latest one",
        ],
        {
            "where": turned.where,
            "proof": Proof.INFERRED,
            "fix": f"Turn the difference around: {name} = {got} - {expected}.",
            "places": [],
        },
    )


def _turned(trace: Trace, product: Traced) -> Traced | None:
    """The difference by which the factor falls as what was paid grows."""
    place = [each.requires_grad for each in product.inputs].index(False)
    source = product.sources[place]
    while (made := trace.made_by(source)) is not None and made.op in _SHIFTING and made.inputs:
        if _is_reversed(made):
            return made
        source = made.sources[0]
    return None


def _is_reversed(call: Traced) -> bool:
    """Whether a line subtracts what was paid from what was expected, by their names."""
    parts = parts_at(call.where) if call.op in ops.SUB and len(call.inputs) == 2 else None
    if parts is None or not isinstance(parts[0], ast.BinOp) or len(parts[1]) != 2:
        return False
    expected, got = map(_names, parts[1])
    is_paid = any(_PAID.search(each) and not _COST.search(each) for each in got)
    is_expected = any(map(_EXPECTED.search, expected))
    return is_paid and is_expected and not any(map(_EXPECTED.search, got))


def _names(part: ast.expr) -> list[str]:
    return [
        ast.unparse(each) for each in ast.walk(part) if isinstance(each, (ast.Name, ast.Attribute))
    ]


def _product(trace: Trace) -> tuple[Traced, Sign] | None:
    """The product of log-probabilities of draws and a factor without history, and its sign."""
    drawn = _drawn(trace)
    for call in trace.calls:
        if call.op not in ops.MUL or len(call.inputs) != 2:
            continue
        learned = [each.requires_grad for each in call.inputs]
        if sum(learned) != 1 or call.inputs[learned.index(False)].numel() < 2:
            continue
        made = trace.made_by(call.sources[learned.index(True)])
        behind = set() if made is None else {made.number, *trace.ancestors(made)}
        chosen = [each for each in drawn if each.number in behind]
        if not chosen:
            continue
        start = Measure(chosen[-1], -1, "the log-probability", weighted=True)
        return call, sign_of(trace, start)
    return None


def _drawn(trace: Trace) -> list[Traced]:
    """The calls that pick the log-probability of what was drawn from the model's own answers."""
    log = trace.snapshot.log
    found = []
    for call in trace.calls:
        if call.op not in ops.INDEXED or not call.inputs or not call.inputs[0].requires_grad:
            continue
        for given, source in zip(call.kept[1:], call.sources[1:]):
            made = trace.made_by(source)
            numbers = set() if made is None else {made.number, *trace.ancestors(made)}
            calls = [each for each in trace.calls if each.number in numbers]
            leaves = [given, *(one for each in calls for one in each.kept)]
            origins = [log.origin(one) for one in leaves
                       if log is not None and type(one) is not Produced]  # fmt: skip
            if any(each.op in ops.DRAWS for each in calls) or any(
                origin is not None and origin.learned for origin in origins
            ):
                found.append(call)
    return found


def _name_of_factor(snapshot: Snapshot, product: Traced) -> str | None:
    """The name of a variable that holds the factor, if it is one for what is to grow."""
    learned = [each.requires_grad for each in product.inputs]
    key = key_of(product.kept[learned.index(False)])
    names = [name for (_, name, _), held in snapshot.variables.items() if held == key]
    return next((each for each in names if _PAID.search(each) and not _COST.search(each)), None)


def _paid(trace: Trace, product: Traced) -> float:
    """The mean of what the factor was made of, before anything was subtracted from it."""
    place = [each.requires_grad for each in product.inputs].index(False)
    values, source = product.inputs[place], product.sources[place]
    while (made := trace.made_by(source)) is not None and made.op in _SHIFTING and made.inputs:
        at = 1 if _is_reversed(made) else 0
        values, source = made.inputs[at], made.sources[at]
    return float(trace.array(values).astype(np.float64).mean())
