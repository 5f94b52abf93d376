"""A rule: one failure, what it means, how it is measured, and what to do about it.

A rule is data and one function.  The function reads the :class:`~.case.Case` of a run and yields
findings; the rest is the rule's page in the docs.  Rules of one's own are added with
:func:`register`, thresholds are changed by name: ``doctor.rules["dead-relu"].thresholds["dead"]``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from whygrad.errors import fail
from whygrad.source import Where

if TYPE_CHECKING:
    from whygrad.doctor.case import Case

__all__ = ["Finding", "Rule", "register", "rule", "rules"]


@dataclass(eq=False)
class Finding:
    """One thing that is wrong, with the evidence."""

    rule: str
    title: str
    where: Where | None = None
    step: int | None = None  # the first step at which it was seen
    confidence: float = 0.9
    evidence: list[str] = field(default_factory=list)  # measurements, in words and numbers
    fix: str = ""
    guardrail: str = ""
    places: list[tuple[str, Where]] = field(default_factory=list)  # other lines that belong to it
    caused_by: Finding | None = None
    severity: int = 0  # from its rule
    parameters: list[str] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)  # for reports: plain data


Check = Callable[["Case"], Iterator[Finding]]


@dataclass(frozen=True)
class Rule:
    """A failure class.  ``severity``: 3 ends training, 2 spoils the result, 1 costs quality."""

    id: str
    title: str
    meaning: str
    measured: str
    fix: str
    guardrail: str
    check: Check
    severity: int = 2
    # Rules whose findings this one explains when it came first.
    explains: tuple[str, ...] = ()
    thresholds: dict[str, float] = field(default_factory=dict)
    # What was measured when it did not fire: "largest update ratio 0.003"; for `ruled_out`.
    cleared: Callable[[Case], str | None] | None = None
    last: bool = False  # asked after all others, and only if those found nothing

    def finding(self, **facts: Any) -> Finding:
        """A finding of this rule; what is not said is the rule's own text."""
        facts.setdefault("title", self.title)
        facts.setdefault("fix", self.fix)
        facts.setdefault("guardrail", self.guardrail)
        return Finding(self.id, severity=self.severity, **facts)


rules: dict[str, Rule] = {}


def register(new: Rule) -> Rule:
    """Add a rule, or replace the one with the same id."""
    if not isinstance(new, Rule) or not new.id.replace("-", "").isalnum():
        raise fail(
            ValueError,
            call=f"doctor.register({new!r})",
            cause="a rule needs an id of letters, digits and dashes",
            fix="Rule(id='my-rule', title=…, meaning=…, measured=…, fix=…, guardrail=…, check=…)",
            where=None,
        )
    rules[new.id] = new
    return new


def rule(**facts: Any) -> Callable[[Check], Rule]:
    """Decorates the check of a new rule: ``@rule(id="dead-relu", title=…, …)``."""

    def made(check: Check) -> Rule:
        return register(Rule(check=check, **facts))

    return made


def changed(known: Rule, **thresholds: float) -> Rule:
    """The rule with other thresholds."""
    unknown = set(thresholds) - set(known.thresholds)
    if unknown:
        raise fail(
            ValueError,
            call=f"thresholds of {known.id}",
            cause=f"there is no {sorted(unknown)[0]!r}",
            fix=f"choose from {', '.join(known.thresholds) or 'none: this rule has no thresholds'}",
            where=None,
        )
    return replace(known, thresholds={**known.thresholds, **thresholds})
