"""Every rule is asked, and causes are told from symptoms.

A finding is a symptom if another one explains it (:mod:`.order`).  What nobody explains is a root
cause; the gravest of those is the verdict.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from whygrad.doctor import report
from whygrad.doctor.evidence.case import Case
from whygrad.doctor.experiments.remedies import attempt
from whygrad.doctor.rules import load
from whygrad.doctor.rules.rule import Finding, Proof, Rule, rules
from whygrad.doctor.source.lines import ignored_rules
from whygrad.doctor.verdict.doubt import doubt_of_learning, main_courses
from whygrad.doctor.verdict.order import explains, gravity
from whygrad.doctor.verdict.urgency import pressing
from whygrad.doctor.verdict.weight import is_aside, is_left_over, learned_well

__all__ = ["Asked", "Diagnosis", "diagnose"]

_LOST = re.compile(r"\b(nan|inf)\b", re.IGNORECASE)
_PART = 0.1  # of the loss that fell: the run does well enough without what is left over
_TRIED = 2  # causes whose fix is tried
_RAISED = "the step did not come to its end, so there is none to train"


@dataclass(eq=False)
class Diagnosis:
    """What the doctor says about a run."""

    case: Case
    findings: list[Finding] = field(default_factory=list)  # root causes first, gravest first
    ruled_out: list[tuple[str, str]] = field(default_factory=list)  # rule, measurement
    notes: list[str] = field(default_factory=list)  # what is worth knowing and not wrong
    # Findings that are no verdict beside what was learned (:mod:`.weight`).
    asides: list[Finding] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)  # rules that could not be judged
    unasked: list[str] = field(default_factory=list)  # rules, when the examination was stopped
    # What the program says to ignore was found: no reason to look for another name.
    hushed: bool = False
    # Why "nothing wrong" would say too much, although nothing was found; None: it would not.
    doubt: str | None = None

    @property
    def verdict(self) -> Finding | None:
        return self.findings[0] if self.findings else None

    @property
    def causes(self) -> list[Finding]:
        return [each for each in self.findings if each.caused_by is None]

    @property
    def healthy(self) -> bool:
        """Whether nothing was found and the program came to its end."""
        return not self.findings and self.case.run.crash is None

    @property
    def well(self) -> bool:
        """Whether it is healthy, and shown to have learned."""
        return self.healthy and self.doubt is None

    @property
    def suspected(self) -> bool:
        """Whether nothing that was found is more than possible: a suspicion, and no accusation.

        What ended a program, or made a value of it invalid, is wrong whatever the cause.
        """
        run = self.case.run
        broken = run.crash is not None or run.incidents or self.case.went_bad is not None
        possible = all(each.certainty == "possible" for each in self.causes)
        return bool(self.findings) and possible and not broken

    def report(self, format: str = "text", width: int = 80) -> str:
        """The report as ``text`` (of this width), ``markdown``, ``html`` or ``json``."""
        return report.render(self, format, width)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file: .html, .md, .json or .txt."""
        report.save(self, path)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data, fit for JSON."""
        return report.to_dict(self)

    def _repr_html_(self) -> str:
        return report.fragment(self)


Asked = Callable[[int, int], None]  # is told how many rules were asked, of how many


def diagnose(
    case: Case, ignore: frozenset[str] = frozenset(), asked: Asked | None = None
) -> Diagnosis:
    """Ask every rule, and sort causes from symptoms; Ctrl-C ends the asking."""
    load()
    diagnosis = Diagnosis(case)
    diagnosis.failures += [("watching", trouble) for trouble in case.run.troubles]
    found: list[Finding] = []
    pressing = _pressing(diagnosis)
    order = sorted(rules.values(), key=lambda each: (each.last, each.id not in pressing))
    for place, rule in enumerate(order):
        if asked is not None:
            asked(place, len(order))
        try:
            _ask(rule, diagnosis, ignore, found)
        except KeyboardInterrupt:
            diagnosis.unasked = [each.id for each in order[place:]]
            break
    _judge(diagnosis, found)
    if diagnosis.healthy:
        diagnosis.doubt = _doubt(diagnosis)
    return diagnosis


def _pressing(diagnosis: Diagnosis) -> frozenset[str]:
    """Rules that are asked first, while there is something left for their trials."""
    try:
        return pressing(diagnosis.case)
    except Exception as error:  # the report is worth more than its order
        diagnosis.failures.append(("what to ask first", f"{type(error).__name__}: {error}"))
        return frozenset()


def _judge(diagnosis: Diagnosis, found: list[Finding]) -> None:
    """Sort causes from symptoms, and set aside what weighs nothing beside what was learned."""
    while True:
        _explain(found)
        diagnosis.findings = sorted(found, key=_order)
        if not diagnosis.unasked:
            for cause in diagnosis.causes[:_TRIED]:
                _try(diagnosis, cause)
        light = [each for each in diagnosis.causes if is_aside(each) or is_left_over(each)]
        if light and not _learned_well(diagnosis):
            light = [each for each in light if is_left_over(each) and _learned(diagnosis)]
        if not light:
            return
        diagnosis.asides += light
        found = [each for each in found if each not in light]
        for each in found:
            each.caused_by = None


def _learned(diagnosis: Diagnosis) -> bool:
    case = diagnosis.case
    if diagnosis.failures and diagnosis.failures[-1][0] == "what was learned":
        return False
    broken = case.run.crash is not None or case.run.incidents or _doubt(diagnosis) is not None
    return not broken and all(case.progress(each).gain >= _PART for each in main_courses(case))


def _learned_well(diagnosis: Diagnosis) -> bool:
    diagnosis.case.rule = None
    try:
        return diagnosis.case.once("learned well", lambda: learned_well(diagnosis.case))
    except Exception as error:  # the report is worth more than the weighing
        diagnosis.failures.append(("what was learned", f"{type(error).__name__}: {error}"))
        return False


def _doubt(diagnosis: Diagnosis) -> str | None:
    """Silence is an assertion: what keeps it from being one."""
    case = diagnosis.case
    if case.run.stopped is not None:
        return "watching was stopped before the program ended"
    if diagnosis.unasked:
        rest = len(diagnosis.unasked)
        return f"stopped before {rest} rule{'s' if rest > 1 else ''} could be asked"
    if case.budget.starved:
        return "there was no memory to run steps again"
    case.rule = None
    try:
        return doubt_of_learning(case)
    except Exception as error:  # the report is worth more than the tick
        diagnosis.failures.append(("what was learned", f"{type(error).__name__}: {error}"))
        return "whether it learned could not be found out"


def _try(diagnosis: Diagnosis, cause: Finding) -> None:
    """Try the fix of a cause, unless a trial is how the cause was found."""
    if cause.proof is Proof.TRIED or not cause.fix or cause.tried is not None:
        return
    raises = cause.proof is Proof.RAISED and cause.remedy is None
    try:
        cause.tried = attempt(diagnosis.case, _RAISED if raises else cause.remedy)
    except Exception as error:  # the report is worth more than the trial
        diagnosis.failures.append((f"the fix of {cause.rule}", f"{type(error).__name__}: {error}"))


def _ask(rule: Rule, diagnosis: Diagnosis, ignore: frozenset[str], found: list[Finding]) -> None:
    case = diagnosis.case
    if rule.id in ignore or (rule.last and (found or diagnosis.hushed)):
        return
    case.rule = rule
    try:
        told = list(rule.check(case))
        seen = [each for each in told if each.rule not in ignore and not _suppressed(each)]
        diagnosis.hushed |= len(seen) < len(told)
    except Exception as error:  # one rule that fails must not take the report with it
        diagnosis.failures.append((rule.id, f"{type(error).__name__}: {error}"))
        return
    found += seen
    if not seen and rule.cleared is not None:
        with contextlib.suppress(Exception):
            measured = rule.cleared(case)
            # A figure that is no number, or lost, clears nothing.
            if measured and not _LOST.search(measured):
                diagnosis.ruled_out.append((rule.id, measured))


def _explain(found: list[Finding]) -> None:
    for symptom in found:
        causes = [
            cause
            for cause in found
            if cause is not symptom and explains(cause, symptom) and not _leads_to(symptom, cause)
        ]
        if causes:
            symptom.caused_by = min(causes, key=gravity)
    for symptom in found:  # the cause of a cause is the cause
        while symptom.caused_by is not None and symptom.caused_by.caused_by is not None:
            symptom.caused_by = symptom.caused_by.caused_by


def _leads_to(start: Finding, end: Finding) -> bool:
    """Whether ``start`` is, by now, a cause of ``end``."""
    at: Finding | None = end
    while at is not None:
        if at is start:
            return True
        at = at.caused_by
    return False


def _order(finding: Finding) -> tuple[int, ...]:
    return (finding.caused_by is not None, *gravity(finding))


def _suppressed(finding: Finding) -> bool:
    """Whether the line says ``# whygrad: ignore[rule]``, or ``ignore`` without any rule."""
    if finding.where is None:
        return False
    named = ignored_rules(finding.where)
    return named is not None and (not named or finding.rule in named)
