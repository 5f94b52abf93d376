"""What a finding weighs beside a run that learned well.

A fault that keeps a model from learning shows in its loss.  Where the loss went far below what
ignoring the input costs, what looks like such a fault is often meant so: a part that is left aside,
a gradient that is cut or set, a layer without an activation.  It is told as an aside, unless an
experiment showed that the run does better without it.

Some faults the loss of training does not show: it may be another loss than was meant, or the model
may be judged or kept in a wrong way.  Those are verdicts whatever was learned.
"""

from __future__ import annotations

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.standing import standing_of
from whygrad.doctor.rules.rule import Finding, Proof, rules
from whygrad.doctor.verdict.doubt import doubt_of_learning, main_courses
from whygrad.recording.record import Course

__all__ = ["ALSO", "APART", "HOW_IT_LEARNS", "is_aside", "is_left_over", "learned_well"]

_LEFT = 0.2  # of what could be learned, at the most: so little is left of it
_FELL = 0.8  # of the loss at least, where what could be learned is not known

# Tiers that are about how a model learns, and nothing else.
HOW_IT_LEARNS = ("model", "optimisation", "signals", "symptoms")

# Of the other tiers: what spoils learning, or does not.
ALSO = (
    "detached-graph disconnected-parameter double-softmax frozen-parameter missing-step "
    "missing-zero-grad parameter-not-in-optimizer softmax-over-one wrong-backward"
)

# Of those tiers: what the loss of training does not show.
APART = "batchnorm-statistics checkpoint-state overfitting"


def is_aside(finding: Finding) -> bool:
    """Whether a finding is no verdict about a run that learned well."""
    if finding.proof in (Proof.RAISED, Proof.TRIED) or (finding.tried and finding.tried.helped):
        return False
    tier = rules[finding.rule].tier if finding.rule in rules else ""
    spoils = tier in HOW_IT_LEARNS or finding.rule in ALSO.split()
    return spoils and finding.rule not in APART.split()


def is_left_over(finding: Finding) -> bool:
    """Whether a finding is about a part that nothing uses: a run that learns does so without it."""
    return bool(finding.data.get("left over"))


def learned_well(case: Case) -> bool:
    """Whether every training of the run went far below what ignoring the input costs."""
    if case.run.crash is not None or case.run.incidents or doubt_of_learning(case) is not None:
        return False
    return all(_went_far(case, course) for course in main_courses(case))


def _went_far(case: Case, course: Course) -> bool:
    standing, progress = standing_of(case, course), case.progress(course)
    if standing is None or standing.constant <= standing.floor:
        return progress.end >= 0 and progress.gain >= _FELL
    begun = standing.constant
    if not case.run.loaded:  # a model that steps on from its input begins below any constant
        begun = min(begun, max(standing.first, standing.floor))
    return standing.reached - standing.floor <= _LEFT * (begun - standing.floor)
