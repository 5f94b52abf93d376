"""Terms of a loss of which one counts for nearly nothing beside another.

The sum falls all the same, so no statistic of it is wrong.  Decided by an experiment: a short
training from the first state with the terms weighed alike.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.loss.terms import Weighed, terms_of
from whygrad.doctor.experiments.balance import Balance, balanced
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.recording.record import Course
from whygrad.recording.replay import Trace
from whygrad.recording.replay.reading import Term

__all__: list[str] = []


@rule(
    every_course=True,
    thresholds={
        "steps": (40, "updates: fewer leave a term where it was anyhow"),
        "factor": (0.02, "of the factor of another term: no fine tuning"),
        "share": (0.05, "of the first loss: the rest decides where the parameters go"),
        "left": (0.05, "of its first value, at the end: it was not learned by itself"),
        "undone": (0.3, "of what falls of it when it counts, that the run did not do"),
        "little": (0.2, "of what the run left of it: so low is enough by itself"),
        "lower": (0.8, "of where it was, at most, when it counts"),
        "cost": (0.15, "of its first value by which another term may be higher for that"),
        "one": (10, "times: a factor that is farther from 1 is the one to mend"),
    },
)
def unbalanced_terms(case: Case, course: Course) -> Iterator[Finding]:
    """A term of the loss weighs too little to be learned.

    The loss is a sum, and one of its terms, which has targets of its own, is multiplied by a small
    number, or another one by a large one. The parameters go where the heavy term wants
    them: the total falls, and what the light term asks for is not learned.

    Measured: The loss is taken apart into its terms and their factors, in the first step. A term
    with a target that makes up less than a twentieth of it, by a factor that is fifty times smaller
    than another, is looked at. A short training from the first state in which it is as large as
    the rest gets it far below where the whole run ended, on batches that it has not seen, and the
    other terms go nearly as low as with the factors of the program.
    Fix: Choose factors with which the terms are of about the same size in the first steps.
    Guardrail: print([round(float(term), 4) for term in terms])  # weighed, at the first step
    """
    reading, latest = case.reading(course.first), case.trace(course.last)
    if reading is None or latest is None or len(course.steps) < case.limit("steps"):
        return
    trace = reading.trace
    terms, later = terms_of(trace), terms_of(latest)
    if len(terms) < 2 or not trace.reproduced or case.progress(course).broken:
        return
    if [each.factor for each in terms] != [each.factor for each in later]:
        return  # a factor that changes is being tuned
    sizes = [abs(each.part(trace)) for each in terms]
    for place, each in enumerate(terms):
        heaviest = max(terms, key=lambda other: abs(other.factor))
        light = 0 < abs(each.factor) <= case.limit("factor") * abs(heaviest.factor)
        if not light or not 0 < sizes[place] <= case.limit("share") * sum(sizes):
            continue
        if not any(_is_asked(trace, each, it) for it in reading.terms):
            continue
        times = sum(sizes) / sizes[place]
        found = balanced(case, course, place, times)
        if found is not None and _decides(case, found, place):
            yield _told(case, course, each, heaviest, sizes[place] / sum(sizes), found, place)
            return


def _is_asked(trace: Trace, term: Weighed, meeting: Term) -> bool:
    """Whether a term has targets: of answers, and not of weights or of what units do."""
    if meeting.target is None or meeting.source is None:
        return False
    if not trace.descends(term.made, meeting.call):
        return False
    flat = not np.ptp(trace.array(meeting.target).astype(np.float64))
    return not flat or len(trace.consumers(meeting.source)) == 1


def _decides(case: Case, found: Balance, place: int) -> bool:
    """Whether the term was left, is learned when it counts, and costs the others little."""
    if found.reached[place] < case.limit("left") * found.first[place]:
        return False
    lower = found.lower(place)
    enough = found.undone(place) >= case.limit("undone") or lower <= case.limit("little")
    return enough and lower <= case.limit("lower") and found.cost(place) <= case.limit("cost")


def _told(
    case: Case, course: Course, term: Weighed, heaviest: Weighed, share: float, found: Balance,
    place: int,
) -> Finding:  # fmt: skip
    light = abs(term.factor) * case.limit("one") <= 1 or not heaviest.factor_at
    mended = term if light else heaviest
    better = mended.factor / share if light else mended.factor * share
    others = "; ".join(
        f"{one:.4g} as it was, {other:.4g} then"
        for at, (one, other) in enumerate(zip(found.control, found.changed))
        if at != place
    )
    return unbalanced_terms.finding(
        f"the term on line {term.made.where.line} goes into the loss times {term.factor:g}, the "
        f"one on line {heaviest.made.where.line} times {heaviest.factor:g}: it is "
        f"{share:.2g} of the first loss",
        f"by itself it went from {found.first[place]:.4g} to {found.reached[place]:.4g} in "
        f"{len(course.steps)} updates; {found.updates} updates from the first state lead to "
        f"{found.control[place]:.4g} as it was, and to {found.changed[place]:.4g} when it counts "
        "as much as the rest, on batches left out of them",
        f"the rest in the same trainings: {others}",
        where=mended.factor_at or mended.made.where,
        proof=Proof.TRIED,
        places=[("the term", term.made.where)],
        fix=f"Multiply the term on line {mended.made.where.line} by about {better:.2g} instead of "
        f"{mended.factor:g}, beside the others as they are: tried in a short training.",
        data={"share": share, "factor": term.factor},
    )
