"""Copies of a model that are to follow it and be judged in its place: averages of the weights.

Two of them do not follow: one that is never written to at all, and one that gets the weights and
keeps the statistics that its batch normalisations were made with.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.models import holds, known_of, trained_like
from whygrad.doctor.rules.rule import Finding, Proof, Rule
from whygrad.doctor.source.naming import says
from whygrad.recording.record import Course, Mark

__all__ = ["not_followed"]

# What a copy that is to follow is called; what it is to be better than is called otherwise.
_FOLLOWER = r".*(ema|shadow|averag|avg|swa|smooth|polyak|teacher).*"


def not_followed(case: Case, rule: Rule) -> Finding | None:
    """The first copy that is judged and has not followed the model that is trained."""
    for course in case.courses:
        for mark, model in _judged(case, course):
            found = _never_written(case, rule, course, mark) or _old_statistics(
                case, rule, mark, model
            )
            if found is not None:
                return found
    return None


def _judged(case: Case, course: Course) -> Iterator[tuple[Mark, Any]]:
    """Calls of copies at the end of the run that no training uses, with the model of each."""
    held = {id(each.tensor) for each in course.parameters}
    seen: set[int] = set()
    for mark in reversed(case.run.inference_marks):
        copy = mark.module
        late = mark.passes >= len(case.run.passes)
        if not late or mark.trains or not mark.used or id(copy) in seen or holds(copy, held):
            continue
        seen.add(id(copy))
        for model in trained_like(case, copy, held):
            yield mark, model


def _never_written(case: Case, rule: Rule, course: Course, mark: Mark) -> Finding | None:
    known = known_of(case, mark.module)
    fed = [each for each in case.run.fed.values() if each.module is mark.module]
    named = any(says(each.callers, _FOLLOWER) for each in fed)
    still = known and not any(each.changed or each.reached or each.given for each in known)
    restored = any(each.thing is mark.module for each in case.run.restored)
    if not still or restored or not named:
        return None
    return rule.finding(
        f"the {mark.kind} that is judged is a copy whose {len(known)} parameters are at the end "
        f"what they were at the beginning; {len(course.steps)} updates changed the model",
        where=mark.where,
        step=0,
        proof=Proof.RECORDED,
        title="The copy that is judged never follows the model",
        fix="Bring the copy up to date after each update: e.lerp_(p, 1 - decay) for its parameters "
        "under no_grad(); or judge the model itself.",
        guardrail="before = e.clone(); ema.update(model); assert not torch.equal(before, e)",
    )


def _old_statistics(case: Case, rule: Rule, mark: Mark, model: Any) -> Finding | None:
    """A copy in evaluation mode whose normalisations have seen no batch and been given none."""
    known = known_of(case, mark.module)
    written = [each.rewritten_at for each in known if each.rewritten_at is not None]
    follows = any(each.changed or each.given or each.rewritten_at for each in known)
    if mark.training or not follows:
        return None
    pairs = [
        (name, one, other)
        for (name, one), (_, other) in zip(model.named_modules(), mark.module.named_modules())
        if getattr(one, "running_mean", None) is not None
        and getattr(other, "running_mean", None) is not None
    ]
    old = [name for name, one, other in pairs if _is_fresh(other) and not _is_fresh(one)]
    if not old or len(old) < len(pairs):
        return None
    return rule.finding(
        f"the {mark.kind} that is judged has the weights of the model, and the means and variances "
        f"of {old[0]} are 0 and 1 as they were made: only parameters are written to it",
        f"batch normalisation of the model has followed {len(case.run.passes)} passes",
        where=next(iter(written), mark.where),
        step=0,
        proof=Proof.RECORDED,
        places=[("judged here", mark.where)],
        title="The copy that is judged has the weights of the model and not its statistics",
        fix="Copy the buffers, too: for e, b in zip(ema.buffers(), model.buffers()): e.copy_(b).",
        guardrail="assert all(torch.equal(a, b) for a, b in zip(ema.buffers(), model.buffers()))",
    )


def _is_fresh(norm: Any) -> bool:
    """Whether running statistics are those that a layer is made with."""
    return bool((norm.running_mean == 0).all()) and bool((norm.running_var == 1).all())
