"""Gradients that are limited before there are any."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.recording.record import Course

__all__: list[str] = []


@rule(severity=1, thresholds={"steps": (5, "updates: fewer may be an accident")})
def clipped_too_early(case: Case, course: Course) -> Iterator[Finding]:
    """Gradients are clipped before backward() has computed them.

    clip_grad_norm_() changes the gradients that are there. Called after zero_grad() and before
    backward() it finds none: the limit stands in the program and limits nothing.

    Measured: The norm that each call of clip_grad_norm_ found, and the gradients of the update
    after it: zero at every call, and not zero in the update.
    Fix: Call it between backward() and step().
    Guardrail: assert clip_grad_norm_(model.parameters(), limit) > 0
    """
    clips = [clip for step in course.steps for clip in step.clips if clip.total is not None]
    if len(course.steps) < case.limit("steps") or len(clips) < len(course.steps):
        return
    if any(clip.total for clip in clips):
        return
    sizes = [size for step in course.steps for size in step.gradients.values() if size]
    if not sizes:
        return
    yield clipped_too_early.finding(
        f"the norm was 0 at each of {len(clips)} calls: there were no gradients yet",
        f"the updates had gradients of a size up to {max(sizes):.3g}, which nothing limited",
        where=clips[0].where,
        proof=Proof.RECORDED,
        fix=f"Call it between backward() and step(), with the limit {clips[0].limit:g}.",
    )
