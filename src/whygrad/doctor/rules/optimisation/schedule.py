"""A schedule of the learning rate that does not fit the run.

A warm-up counted in other steps than it is called in: the run is over while the rate is still next
to nothing.  Decided by a rehearsal at the rate that the program chose.  A rate that is gone too
early is another rule (``loss-plateau``).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.curve import quarter, tenths
from whygrad.doctor.experiments.rehearsal import REHEARSED, rehearsed
from whygrad.doctor.experiments.repairs import unlearned
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.lines import rate_set, scheduler_made
from whygrad.recording.record import Course
from whygrad.recording.replay.optimizers import rate_of
from whygrad.source import Where

__all__ = ["line_of_schedule"]


@rule(
    every_course=True,
    thresholds={
        **REHEARSED,
        "steps": (20, "updates: fewer have no schedule"),
        "chosen": (0.3, "of the chosen rate: the run never got above"),
        "low": (0.1, "of the highest rate, at the beginning of a warm-up"),
        "still": (0.95, "of the highest rate, at the end: it has not begun to fall"),
        "guess": (0.9, "of what ignoring the input costs: no better than a guess"),
        "parts": (5, "of the run, in each of which the rate rises further"),
        "more tenths": (3, "times that the highest rate is raised tenfold, if it rose to the end"),
        "tenths": (2, "times that the chosen rate is divided by ten, if it is too much"),
    },
)
def scheduler_misuse(case: Case, course: Course) -> Iterator[Finding]:
    """The schedule never lets the learning rate get where it should.

    A warm-up raises the rate from nearly nothing to the one that was chosen. Here the run ends
    long before that: the schedule counts steps and is called once an epoch, its length is that of
    a far longer run, or its factor is multiplied with a rate that was small already.

    Measured: The highest rate of the run beside the one the optimizer was made with, and the
    last one. A short training from the first state at the chosen rate (or a
    tenth of it) gets far below where the whole run ended, on batches that it has not seen; or the
    run is no better than a guess, and the rate never began to fall.
    Fix: Count warm-up and decay in the steps in which scheduler.step() is called.
    Guardrail: print(scheduler.get_last_lr())  # every epoch; the peak should be the chosen rate
    """
    chosen, peak = course.optimizer.options.get("lr"), rate_of(course)
    rates = [max(each.rates) for each in course.steps if each.rates]
    if len(rates) < case.limit("steps") or not isinstance(chosen, (int, float)) or not peak > 0:
        return
    if peak <= case.limit("chosen") * chosen:
        tries = [chosen * part for part in (1.0, *tenths(case.limit("tenths")))]
    elif _rises(case, rates):
        tries = [peak / part for part in tenths(case.limit("more tenths"))]
    else:
        return
    for wanted in tries:
        found = rehearsed(case, course, factor=wanted / peak) if wanted > peak else None
        if found is not None:
            told = found[0].told(found[1], f"at {wanted:g}")
            yield _never_warm(course, rates, wanted, told, Proof.TRIED)
            return
    at_the_end = rates[-1] >= case.limit("still") * max(rates)
    if tries[0] == chosen and at_the_end and unlearned(case, course, case.limit("guess")):
        end = f"the loss ends at {case.progress(course).end:.4g}, no better than a guess"
        yield _never_warm(course, rates, chosen, end, Proof.INFERRED)


def _rises(case: Case, rates: list[float]) -> bool:
    """Whether the rate went up from next to nothing for the whole run."""
    parts = [max(each) for each in np.array_split(rates, int(case.limit("parts")))]
    return rates[0] < case.limit("low") * max(rates) and all(a < b for a, b in pairwise(parts))


def _never_warm(
    course: Course, rates: list[float], wanted: float, shown: str, proof: Proof
) -> Finding:
    schedulers, chosen = course.optimizer.schedulers, course.optimizer.options["lr"]
    name = schedulers[-1][0] if schedulers else "the schedule"
    rising = rates[-1] > rates[-quarter(rates)]
    return scheduler_misuse.finding(
        f"the optimizer was made with lr={chosen:g}; {name} kept the rate between {min(rates):.2g} "
        f"and {max(rates):.2g}{', still rising at the end' if rising else ''}, in {len(rates)} "
        "updates",
        shown,
        where=line_of_schedule(course),
        proof=proof,
        fix=f"Make the warm-up of {name} end within the first tenth of these {len(rates)} updates: "
        "count it in the steps in which its step() is called.",
        data={"chosen": chosen, "highest": max(rates), "wanted": wanted},
    )


def line_of_schedule(course: Course) -> Where | None:
    """Where the schedule was made; of one by hand, ``group["lr"] = …`` near the call of step()."""
    if course.optimizer.schedulers:
        return course.optimizer.schedulers[-1][1]
    where = course.steps[-1].where
    near = None if where is None else rate_set(where) or scheduler_made(where)
    return near or course.optimizer.made_at
