"""A rule: one failure, what it means, how it is measured, and what to do about it.

A rule is one function with a page.  The function gets the case of a run
(:mod:`whygrad.doctor.evidence.case`), or the case and one of its courses, and has three parts: it
*detects* what is suspicious, *proves* it by a replay or an experiment, and *tells* it as findings,
with the proof.  Its docstring is the
page: the title, what it means, then ``Measured:``, ``Fix:`` and ``Guardrail:``.  A file in the
folder of a tier is all that it takes; what explains what follows from the tiers
(:mod:`whygrad.doctor.verdict.order`).

Rules of one's own are added with :func:`rule` or :func:`register`; thresholds are changed by name:
``doctor.rules["dead-relu"].thresholds["dead"]``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import wraps
from typing import TYPE_CHECKING, Any

from whygrad.doctor.rules.words import quoted
from whygrad.errors import fail
from whygrad.source import Where

if TYPE_CHECKING:
    from whygrad.doctor.evidence.case import Case
    from whygrad.doctor.experiments.remedies import Remedy, Tried
    from whygrad.recording.record import Course, Failure

__all__ = [
    "CERTAINTIES",
    "TIERS",
    "Finding",
    "Proof",
    "Rule",
    "changed",
    "once",
    "register",
    "rule",
    "rules",
]

# The causal order, a folder each: a finding is explained by findings of the tiers before its own.
TIERS = ("program", "data", "model", "optimisation", "signals", "symptoms")

# What each word says, the strongest first.
CERTAINTIES = {
    "certain": "proved: the program raised it, its calls were written down, the step was run "
    "again and shows it, or an experiment with the repair and without decided it",
    "likely": "the evidence admits one reading, which was not tried",
    "possible": "the usual reason for what was seen; others were not ruled out",
}


class Proof(Enum):
    """How a rule knows; what that is worth follows from it."""

    RAISED = "raised"  # an exception of the program says so
    RECORDED = "recorded"  # the calls, updates and gradients of the run, as they were
    REPLAYED = "replayed"  # the step was run again, value by value
    TRIED = "tried"  # trained again: it learns with the repair and not without
    INFERRED = "inferred"  # the evidence admits one reading
    USUAL = "usual"  # a symptom that has other causes too

    @property
    def certainty(self) -> str:
        """One of ``CERTAINTIES``."""
        return {Proof.INFERRED: "likely", Proof.USUAL: "possible"}.get(self, "certain")

    def __str__(self) -> str:
        return f"certain ({self.value})" if self.certainty == "certain" else self.certainty


@dataclass(eq=False)
class Finding:
    """One thing that is wrong, with the evidence."""

    rule: str
    title: str
    where: Where | None = None
    step: int | None = None  # the first step at which it was seen
    proof: Proof = Proof.INFERRED
    evidence: list[str] = field(default_factory=list)  # measurements, in words and numbers
    fix: str = ""
    guardrail: str = ""
    places: list[tuple[str, Where]] = field(default_factory=list)  # other lines that belong to it
    caused_by: Finding | None = None
    severity: int = 0  # from its rule
    parameters: list[str] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)  # for reports: plain data
    # The fix as something to try, or why it cannot be; None: it is not a matter of a step.
    remedy: Remedy | str | None = None
    tried: Tried | None = None  # what came of that

    @property
    def certainty(self) -> str:
        """``certain``, ``likely`` or ``possible``: what its proof is worth."""
        return self.proof.certainty


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
    tier: str = ""  # of the causal order; without one, it explains nothing and nothing explains it
    thresholds: dict[str, float] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)  # for the thresholds
    # What was measured when it did not fire: "largest update ratio 0.003"; for `ruled_out`.
    cleared: Callable[[Case], str | None] | None = None
    last: bool = False  # asked after all others, and only if those found nothing

    def finding(self, *evidence: str | None, **facts: Any) -> Finding:
        """A finding of this rule: what was measured, and the rest by name.

        What is not said is the rule's own text; for a rule of the causal order, it holds from the
        first step on.  Evidence and places that are None are left out.
        """
        own = {"title": self.title, "fix": self.fix, "guardrail": self.guardrail}
        facts = {"step": 0 if self.tier else None, **own, **facts}
        facts["places"] = [each for each in facts.get("places", ()) if each[1] is not None]
        told = [each for each in (*evidence, *facts.pop("evidence", ())) if each is not None]
        return Finding(self.id, severity=self.severity, evidence=told, **facts)

    def raised(self, case: Case, failure: Failure, *evidence: str, **facts: Any) -> Finding:
        """A finding about a call that raised."""
        said = f"it raised {type(failure.error).__name__}: {quoted(str(failure.error))}"
        facts = {"where": failure.where, "step": len(case.run.passes), **facts}
        return self.finding(*evidence, said, proof=Proof.RAISED, **facts)


rules: dict[str, Rule] = {}
_LABELS = ("measured", "fix", "guardrail")  # the parts of a page, after what it means


def register(new: Rule) -> Rule:
    """Add a rule, or replace the one with the same id."""
    if not isinstance(new, Rule) or not new.id.replace("-", "").isalnum():
        raise fail(
            ValueError,
            where=None,
            call=f"doctor.register({new!r})",
            cause="a rule needs an id of letters, digits and dashes",
            fix="Rule(id='my-rule', title=…, meaning=…, measured=…, fix=…, guardrail=…, check=…)",
        )
    if new.tier not in ("", *TIERS):
        raise fail(
            ValueError,
            where=None,
            call=f"doctor.register({new.id!r})",
            cause=f"there is no tier {new.tier!r}",
            fix=f"choose from {', '.join(TIERS)}, or none",
        )
    rules[new.id] = new
    return new


def rule(
    *,
    thresholds: Mapping[str, float | tuple[float, str]] | None = None,
    every_course: bool = False,
    **facts: Any,
) -> Callable[[Callable[..., Iterator[Finding]]], Rule]:
    """Decorates the check of a new rule: ``@rule(…)``.

    What is not given comes from the function: the id from its name, the texts from its docstring,
    the tier from the folder it stands in.  A threshold is a number, or a number and its reason.
    A function of a case and a ``course`` is asked about one course after the other, the longest
    first, until it has found something, or about ``every_course``.
    """

    def made(check: Callable[..., Iterator[Finding]]) -> Rule:
        parts = check.__module__.split(".")
        inside = parts[:3] == ["whygrad", "doctor", "rules"] and len(parts) > 4
        told = [(name, value if isinstance(value, tuple) else (value, ""))
                for name, value in (thresholds or {}).items()]  # fmt: skip
        known: dict[str, Any] = {
            "id": check.__name__.replace("_", "-"),
            "tier": parts[3] if inside else "",
            "thresholds": {name: value for name, (value, _) in told},
            "reasons": {name: reason for name, (_, reason) in told if reason},
            **_page(check),
        }
        untold = [each.title() for each in _LABELS if not {**known, **facts}[each]]
        if inside and untold:
            raise fail(
                ValueError,
                where=None,
                call=f"the rule {known['id']} in {check.__module__}",
                cause=f"its docstring does not say {', '.join(untold)}",
                fix="end it with the lines `Measured: …`, `Fix: …` and `Guardrail: …`: they are "
                "its page in docs/doctor",
            )
        of_a_course = "course" in inspect.signature(check).parameters
        asked = _about_courses(check, every_course) if of_a_course else check
        return register(Rule(check=asked, **{**known, **facts}))

    return made


def _about_courses(check: Callable[[Case, Course], Iterator[Finding]], every: bool) -> Check:
    @wraps(check)
    def asked(case: Case) -> Iterator[Finding]:
        for course in case.courses:
            found = list(check(case, course))
            yield from found
            if found and not every:
                return

    return asked


def once(found: Iterable[Finding | None]) -> Iterator[Finding]:
    """The findings that there are, one for each line."""
    seen: set[str] = set()
    for each in found:
        if each is not None and str(each.where) not in seen:
            seen.add(str(each.where))
            yield each


def _page(check: Callable[..., Iterator[Finding]]) -> dict[str, str]:
    """The texts of a rule, from the docstring of its function."""
    title, _, rest = inspect.cleandoc(check.__doc__ or "").partition("\n")
    found = dict.fromkeys(("meaning", *_LABELS), "")
    at = "meaning"
    for line in rest.splitlines():
        label, colon, text = line.partition(": ")
        if colon and label.lower() in _LABELS and label.istitle():
            at, line = label.lower(), text
        found[at] = f"{found[at]} {line}".strip()
    return {"title": title.rstrip("."), **found}


def changed(known: Rule, /, **thresholds: float) -> Rule:
    """The rule with other thresholds."""
    unknown = set(thresholds) - set(known.thresholds)
    if unknown:
        raise fail(
            ValueError,
            where=None,
            call=f"thresholds of {known.id}",
            cause=f"there is no {sorted(unknown)[0]!r}",
            fix=f"choose from {', '.join(known.thresholds) or 'none: this rule has no thresholds'}",
        )
    return replace(known, thresholds={**known.thresholds, **thresholds})
