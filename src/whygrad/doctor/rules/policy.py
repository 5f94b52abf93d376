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
from whygrad.doctor.evidence.provenance import chosen_draws
from whygrad.doctor.rules.rule import Proof
from whygrad.doctor.source.lines import loss_assigned
from whygrad.doctor.source.opposites import parts_at
from whygrad.ops import families as ops
from whygrad.recording.calls import Produced
from whygrad.recording.record import Course
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.variables import key_of

__all__ = ["rewarded_less"]

Told = tuple[list[str], dict[str, Any]]  # the evidence, and the rest of a finding
_PAID = re.compile(r"rew|ret(urn)?s?$|return|adv|gain|score|^[RG]s?$|payoff", re.IGNORECASE)
_COST = re.compile(r"cost|loss|penal|regret|risk|err|neg|length|dist|delay|energy", re.IGNORECASE)
_EXPECTED = re.compile(r"val|base|critic|expect|^v[s_]?|_v$|mean|avg", re.IGNORECASE)
_ADVANTAGE = re.compile(r"adv", re.IGNORECASE)
_NOTHING = 1e-6  # the mean of what was shifted to zero
_SHIFTED = 0.05  # … or nearly so, where a value was subtracted that had been learned
_SHIFTING = ops.SUB | ops.DIV | ops.ADD | ops.MUL | ops.RESHAPING | ops.JOINS | ops.CASTS


def rewarded_less(case: Case, course: Course) -> Told | None:
    """What is told of a course whose loss grows with the log-probability of what paid well."""
    beginning = case.trace(course.first)
    if beginning is None or _product(beginning) is None:
        return None  # before the others are run again
    snapshots = (course.first, course.earlier, course.last)
    traces = {id(each): each for it in snapshots if (each := case.trace(it)) is not None}
    found = [(each, *made) for each in traces.values() if (made := _product(each)) is not None]
    if not found or len({product.where for _, product, _ in found}) > 1:
        return None
    if not all(each.reproduced for each, *_ in found):
        return None
    turned = [_turned(each, product) for each, product, _ in found]
    signs = {(sign.value or 0) * (1 if at is None else -1) for (*_, sign), at in zip(found, turned)}
    if signs != {1}:
        return None
    first, product, _ = found[0]
    name = _name_of_factor(first, product)
    paid = [_paid(each, made) for each, made, _ in found]
    if name is None or not _fell(paid, name):
        return None
    backward = course.steps[0].passes[-1].where if course.steps[0].passes else None
    where = (None if backward is None else loss_assigned(backward)) or product.where
    if turned[0] is not None:
        return _subtracted(turned[0], name, paid)
    return (
        [
            f"the log-probability of what was drawn, times {name}, enters the loss with a plus: a "
            "smaller loss makes what paid well less likely",
            *_told(paid),
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


def _fell(paid: list[float], name: str) -> bool:
    """Whether less was paid later; of an advantage that is shifted to zero, its name has to do."""
    if abs(paid[0]) < _NOTHING or len(paid) < 2:
        return _ADVANTAGE.search(name) is not None
    shifted = _ADVANTAGE.search(name) is not None and max(map(abs, paid)) < _SHIFTED
    return shifted or paid[-1] < paid[0]


def _told(paid: list[float]) -> list[str]:
    if len(paid) < 2 or max(map(abs, paid)) < _SHIFTED:
        return []
    return [
        f"what was paid went from {paid[0]:.4g} on average at the first step to {paid[-1]:.4g} at "
        "the latest one"
    ]


def _subtracted(turned: Traced, name: str, paid: list[float]) -> Told:
    """What is told of an advantage that is what was expected minus what was paid."""
    parts = parts_at(turned.where)
    expected, got = map(ast.unparse, parts[1][:2]) if parts else ("the value", "the return")
    return (
        [
            f"{name} is {expected} minus {got}: it is large where less was paid than expected, "
            "and a smaller loss makes that more likely",
            *_told(paid),
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
    drawn = chosen_draws(trace)
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


def _name_of_factor(trace: Trace, product: Traced) -> str | None:
    """The name of a variable that holds the factor, if it is one for what is to grow.

    A factor that is written as a difference has the name of what something is subtracted from.
    """
    place = [each.requires_grad for each in product.inputs].index(False)
    kept, source = product.kept[place], product.sources[place]
    if _is_of_costs(trace, source):
        return None
    while True:
        names = [name for (_, name, _), held in trace.snapshot.variables.items()
                 if held == key_of(kept)]  # fmt: skip
        made = trace.made_by(source)
        if names or made is None or made.op not in _SHIFTING or not made.inputs:
            break
        kept, source = made.kept[0], made.sources[0]
    return next((each for each in names if _PAID.search(each) and not _COST.search(each)), None)


def _is_of_costs(trace: Trace, source: Produced | None) -> bool:
    """Whether a factor is what something cost, less what was expected: it is to become small."""
    while (made := trace.made_by(source)) is not None and made.op in _SHIFTING and made.inputs:
        parts = parts_at(made.where) if made.op in ops.SUB else None
        if parts is not None and parts[1] and any(map(_COST.search, _names(parts[1][0]))):
            return True
        source = made.sources[0]
    return False


def _paid(trace: Trace, product: Traced) -> float:
    """The mean of what the factor was made of, before anything was subtracted from it."""
    place = [each.requires_grad for each in product.inputs].index(False)
    values, source = product.inputs[place], product.sources[place]
    while (made := trace.made_by(source)) is not None and made.op in _SHIFTING and made.inputs:
        at = 1 if _is_reversed(made) else 0
        values, source = made.inputs[at], made.sources[at]
    return float(trace.array(values).astype(np.float64).mean())
