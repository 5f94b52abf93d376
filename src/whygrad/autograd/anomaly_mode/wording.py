"""The sentences: errors of anomaly mode and the report of what was harmless."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from whygrad.autograd.anomaly_mode.advice import advice
from whygrad.autograd.anomaly_mode.findings import Element, Finding, Trail, user_calls
from whygrad.errors import describe, fail
from whygrad.source import Calls, Where

if TYPE_CHECKING:
    from whygrad.autograd.anomaly_mode.selection import Selection
    from whygrad.autograd.anomaly_mode.watch import Suspect
    from whygrad.tensor import Tensor
    from whygrad.tensor.graph.node import Node

__all__ = [
    "Account",
    "AnomalyError",
    "account",
    "changed_memory",
    "reached_a_gradient",
    "reached_the_loss",
    "report",
    "rule_failed",
    "stack",
]


class AnomalyError(RuntimeError):
    """A NaN or Inf that does harm, and the op that made it."""

    finding: Finding
    trail: Trail  # with what became of it, and who else did the same
    arrival: str  # what it reached
    fix: str  # what to write instead
    whygrad_explained = True

    @property
    def op(self) -> str | None:
        """The op that made it; None if it was in the data."""
        return None if self.finding.op is None else self.finding.op.name

    @property
    def node(self) -> Node | None:
        """The node of that call, while its graph is alive."""
        return self.finding.node

    @property
    def where(self) -> Where | None:
        """The line of the forward call."""
        return self.finding.where

    @property
    def stack(self) -> list[Where]:
        """The calls that led to it, outermost first."""
        return self.finding.stack

    @property
    def kind(self) -> str:
        """``nan`` or ``inf``"""
        return self.finding.kind

    @property
    def backward(self) -> bool:
        """Whether the rule of the op made it, on the way back."""
        return self.finding.backward

    @property
    def elements(self) -> tuple[Element, ...]:
        """The first few elements: index, value, and what they were made of."""
        return self.finding.elements


def reached_the_loss(trail: Trail, root: Tensor, where: Where) -> AnomalyError:
    """The value that backward() starts from is not finite."""
    return _error(trail, f"it reached the loss, {describe(root)}", where)


def reached_a_gradient(trail: Trail, node: Node, where: Where) -> AnomalyError:
    """A gradient that somebody asked for is not finite."""
    of = "the leaf" if node.plan is None else f"the output of {node.name()},"
    geometry = describe(np.empty(node.shape, node.dtype))
    return _error(trail, f"it reached the gradient of {of} {geometry} made at {node.where}", where)


def rule_failed(trail: Trail, error: Exception, where: Where) -> AnomalyError:
    """A rule raised on numbers that were not finite."""
    reason = str(error).splitlines()[0]
    return _error(trail, f"a later rule failed on it ({type(error).__name__}: {reason})", where)


class Account(NamedTuple):
    """A trail in words."""

    headline: str
    cause: str
    here: list[str]  # the first few elements
    rule: list[str]
    why: list[str]
    then: list[str]  # what became of it
    also: list[str]  # others that did the same
    fix: str


def account(trail: Trail) -> Account:
    """Who made the numbers that are not finite, how, and what to do about it."""
    finding = trail.culprits[0]
    headline = _headline(finding)
    others = dict.fromkeys(_headline(each) for each in trail.culprits[1:])
    others.pop(headline, None)
    chosen = finding.selection or trail.selection
    why, fix = advice(finding)
    return Account(
        headline,
        _cause(finding),
        _elements(finding),
        [] if finding.op is None else [finding.op.formula],
        [why, *_dropped(chosen)],
        _turned(trail.turned),
        list(others),
        fix if chosen is None else chosen.fix,
    )


def _error(trail: Trail, arrival: str, where: Where) -> AnomalyError:
    finding, told = trail.culprits[0], account(trail)
    lines = [
        told.headline,
        f"  cause: {told.cause}",
        *_aligned("here:", told.here),
        *_aligned("rule:", told.rule),
        *_aligned("why:", told.why),
        *_aligned("then:", [*told.then, arrival]),
        *_aligned("also:", told.also),
        f"  fix:   {told.fix}",
        *_aligned("calls:", _calls(finding)),
        f"  at:    {where}",
    ]
    error = AnomalyError("\n".join(lines))
    error.finding = finding
    error.trail = trail
    error.arrival = arrival
    error.fix = told.fix
    return error


def _calls(finding: Finding) -> list[str]:
    return [str(each) for each in finding.stack] if len(finding.stack) > 1 else []


def _aligned(label: str, lines: list[str]) -> list[str]:
    return [f"  {label if number == 0 else '':6} {line}" for number, line in enumerate(lines)]


def _headline(finding: Finding) -> str:
    if finding.op is None:
        place = "" if finding.where is None else f" at {finding.where}"
        return f"{finding.writer or 'a given number'}{place}"
    during = finding.during
    text = (
        f"{finding.name} of {finding.where}"
        if finding.backward
        else f"{finding.call} at {finding.where}"
    )
    while during is not None:
        text += f"\n  recorded while {during.name} ran, of {during.where}"
        during = during.outer
    return text


def _cause(finding: Finding) -> str:
    many = f"{finding.count} of {math.prod(finding.shape)} elements"
    if finding.op is None:
        return f"{finding.kind} values in {many} that no op made"
    fed = "finite numbers" if finding.fed is None else "numbers that held inf"
    if finding.fed == "nan":
        fed = "numbers that held nan"
    if finding.summed:
        return f"{finding.name} added its gradient to others; the sum is {finding.kind} in {many}"
    if not finding.backward:
        return f"{finding.name} made {finding.kind} out of {fed}, in {many}"
    return (
        f"Function '{finding.name}0' returned {finding.kind} values in its {finding.position}th "
        f"output. It made them out of {fed}, in {many}"
    )


def _elements(finding: Finding) -> list[str]:
    lines = [_element(finding, each) for each in finding.elements]
    rest = finding.count - len(lines)
    return [*lines, f"and {rest} more"] if rest > 0 else lines


def _element(finding: Finding, element: Element) -> str:
    place = f"[{', '.join(map(str, element.index))}] " if element.index else ""
    known = ", ".join(f"{name} = {_number(value)}" for name, value in element.inputs.items())
    value = _number(element.value)
    if not finding.backward:
        return f"{place}{known} → {value}" if known else f"{place}{value}"
    at = f" at {known}" if known else ""
    if element.incoming is None:
        return f"{place}{value}{at}"
    arrived = f"{place}incoming {_number(element.incoming)}"
    if element.slope is None:
        return f"{arrived}{at} → {value}"
    return f"{arrived} · derivative {_number(element.slope)}{at} → {value}"


def _number(value: float) -> str:
    return f"{value:.6g}".replace("-", "−")


def _dropped(chosen: Selection | None) -> list[str]:
    if chosen is None:
        return []
    if chosen.branch is None:
        return [f"the 0 comes from {chosen.call} at {chosen.where}"]
    return [f"{chosen.call} does not choose {chosen.branch} there and sends 0 back: {chosen.where}"]


def _turned(finding: Finding | None) -> list[str]:
    if finding is None:
        return []
    if not finding.backward:
        return [f"inf became nan in {finding.call} at {finding.where}"]
    return [
        f"Function '{finding.name}0' returned {finding.kind} values in its {finding.position}th "
        f"output, of {finding.where}",
        *_elements(finding)[:1],
    ]


def stack(calls: Calls) -> str:
    """The forward call of the node an error is about, outermost call first."""
    lines = [f"  {each}" for each in user_calls(calls)]
    return "\n".join(["the forward call came from", *lines])


def changed_memory(node: Node, label: str) -> RuntimeError:
    """A saved value is not what it was, although no op wrote to it."""
    return fail(
        RuntimeError,
        call=f"{node.name()} saved '{label}' at {node.where}",
        cause="one of the variables needed for gradient computation has been modified, and not by "
        "an op: a NumPy array that shares its memory (numpy(), from_numpy()) was written to",
        fix="give NumPy a copy: x.numpy().copy(), or from_numpy(array.copy()), or write after "
        "backward()",
        where=None,
    )


def report(suspects: list[Suspect]) -> str:
    """What was not finite, and whether it did harm."""
    if not suspects:
        return "no op made a NaN or an Inf"
    lines = []
    for suspect in suspects:
        finding = suspect.finding
        times = "" if suspect.times == 1 else f" ({suspect.times} times, here the last)"
        if suspect.harmful:
            verdict = f"harmful: it is the error of {suspect.judged_at}"
        elif suspect.judged_at is not None:
            verdict = f"harmless: it never reached the loss or a gradient of {suspect.judged_at}"
        else:
            verdict = "undecided: no backward() has run since"
        lines += [
            f"{_headline(finding)}{times}",
            *_aligned("here:", _elements(finding)),
            f"  {verdict}",
        ]
    return "\n".join(lines)
