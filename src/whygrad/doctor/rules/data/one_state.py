"""A memory of samples that all are the same array, which is written to again and again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.provenance import given_inputs
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.rules.words import few
from whygrad.doctor.source.episodes import handed_out, kept_states
from whygrad.recording.ranges import Array
from whygrad.recording.record import Course, Snapshot

__all__: list[str] = []


@rule(
    thresholds={
        "samples": (8, "of a batch: fewer may be the same by chance"),
        "steps": (2, "that were looked at, with other values each"),
    },
)
def one_state(case: Case, course: Course) -> Iterator[Finding]:
    """All samples of a batch are one and the same.

    A list that keeps an array keeps a reference. If the array is then written to in place, as many
    environments do with their state, all that was kept is the latest state, many times over: what
    was done in it and what it paid belong to other states.

    Measured: At each kept step all samples that the model is given have the same values, and from
    step to step these values are others. And the program keeps a state for later without a copy.
    Fix: Keep copies: buffer.append((state.copy(), action, reward, next_state.copy())), or return
    self.state.copy() from the environment.
    Guardrail: assert len(states.unique(dim=0)) > 1
    """
    steps = {id(each): each for each in (course.first, course.earlier, course.last) if each}
    rows = [_one_row(case, each) for each in steps.values()]
    if len(rows) < case.limit("steps") or any(each is None for each in rows):
        return
    if all(np.array_equal(rows[0], each) for each in rows[1:]):  # type: ignore[arg-type]
        return  # a constant that is given on purpose
    found = None if case.run.script is None else next(kept_states(case.run.script), None)
    if found is None:
        return
    name, kept = found
    given = None if case.run.script is None else handed_out(case.run.script)
    yield one_state.finding(
        f"at {len(rows)} kept steps all samples of the batch have the same values: "
        f"{_told(rows[0])} at the first, {_told(rows[-1])} at the latest",
        f"{name} is kept as it is, without a copy: it is one array that is written to",
        where=given or kept,
        places=[("kept here", kept)] if given is not None else [],
        proof=Proof.RECORDED,
        fix=f"Keep a copy: {name}.copy() for an array, {name}.clone() for a tensor.",
    )


def _one_row(case: Case, snapshot: Snapshot) -> Array | None:
    """The values of the one sample that a batch has many times."""
    reading = case.reading(snapshot)
    if reading is None:
        return None
    arrays = [reading.trace.array(each) for _, each in given_inputs(reading)]
    numbers = [each for each in arrays if each.dtype.kind == "f" and each.ndim > 1]
    if not numbers or any(len(each) < case.limit("samples") for each in numbers):
        return None
    same = all((each == each[:1]).all() for each in numbers)
    return numbers[0][0].ravel() if same else None


def _told(row: Array | None) -> str:
    """The first values of a sample."""
    return f"[{', '.join(few([] if row is None else [f'{each:.3g}' for each in row]))}]"
