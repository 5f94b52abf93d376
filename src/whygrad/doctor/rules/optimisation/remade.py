"""An optimizer that is made anew before it has made use of what it remembers."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.recording.record import Course

__all__: list[str] = []


@rule(
    thresholds={
        "times": (8, "made anew for the same parameters: fewer may be stages of a training"),
        "memory": (0.9, "of a moment that is kept from one update to the next, if nothing is said"),
    },
)
def optimizer_remade(case: Case, course: Course) -> Iterator[Finding]:
    """The optimizer is made anew again and again.

    Momentum and the running moments of Adam are kept in the optimizer. One that is made inside the
    loop begins without them each time: Adam then moves every weight by the whole rate in the
    direction of a sign, and momentum never builds up.

    Measured: How often the same line made an optimizer for the same parameters, and how many
    updates each of them made, against the number of updates that it remembers; not where the
    program puts other values into the parameters in between, as in meta-learning.
    Fix: Make the optimizer once, before the loop; change its rate with a scheduler or by
    optimizer.param_groups[0]["lr"].
    Guardrail: assert optimizer.state  # after the first update
    """
    made, options = course.optimizer.remade + 1, course.optimizer.options
    betas = options.get("betas") or (options.get("momentum") or 0.0,)
    kept = max(float(betas[0]), case.limit("memory") if "alpha" in options else 0.0)
    if made <= case.limit("times") or not 0 < kept < 1:
        return
    each = len(course.steps) / made
    if each * (1 - kept) > 1:
        return
    yield optimizer_remade.finding(
        f"this line made {made} {course.optimizer.kind} optimizers for the same "
        f"{len(course.parameters)} parameters; each made {each:.3g} of {len(course.steps)} updates",
        f"what it remembers fades over {1 / (1 - kept):.0f} updates: it never had that many",
        where=course.optimizer.made_at,
        proof=Proof.RECORDED,
        places=[("updated here", course.steps[-1].where)],
        remedy="what an optimizer remembers shows over many batches, not within a recorded step",
    )
