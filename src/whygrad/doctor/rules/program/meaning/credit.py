"""An agent whose actions get the credit for something else.

What an agent did is credited with what came after it: the rewards from then on, up to the end of
the episode.  Python adds these up, so the text says how; the record says that the result is what
the loss is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.provenance import chosen_draws, has_moving_targets
from whygrad.doctor.rules.program.meaning.bootstrap import Bootstrap, learned_target
from whygrad.doctor.rules.program.meaning.ratio import ratio_of_one
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.episodes import (
    drawn_again,
    ends_ignored,
    returns_backwards,
    returns_forwards,
)
from whygrad.recording.record import Course, Snapshot
from whygrad.recording.replay import Trace

__all__: list[str] = []

_T = TypeVar("_T")


@rule(
    thresholds={
        "updates": (10, "fewer are no training"),
        "steps": (2, "kept, with a ratio of 1 each: at the first one it always is"),
    },
)
def misplaced_credit(case: Case, course: Course) -> Iterator[Finding]:
    """Actions get the credit for something that they did not bring about.

    The return of a step is the sum of the rewards from then on: summed from the first step forwards
    it is what came before the action. The value of the state after the last one is zero: without
    (1 - done) an end that is a failure is as good as any other state. And the log-probability has
    to be that of the action that was carried out, not of another draw, and, under a ratio that is
    limited, that of the policy which acted. A target that is made of the model's own answers is to
    be reached, not to be moved.

    Measured: The program adds up discounted rewards in the order in which they came, or keeps the
    sums in the order in which it goes backwards, or fetches the
    ends of episodes with each batch and uses them nowhere, or takes the log-probability of a draw
    that it does not keep; and a training pass has log-probabilities of draws in its loss, or
    targets that a model answers. Or: a ratio of probabilities that is clamped and that is exactly 1
    for all samples of the kept steps, because both are computed with the same parameters. Or: a
    target that is a given number plus a part of what the model answers, with a history.
    Fix: for r in reversed(rewards): G = r + gamma * G; target = r + gamma * (1 - done) * value.
    Guardrail: assert returns[-1] == rewards[-1]
    """
    file, reading = case.run.script, case.reading(course.last or course.first)
    if file is None or reading is None or len(course.steps) < case.limit("updates"):
        return
    draws, lines = chosen_draws(reading.trace), {each.where.line for each in reading.trace.calls}
    yield from _with_itself(case, course)
    yield from _pulled(case, course)
    update = course.steps[-1].where
    if draws:
        for each in dict.fromkeys((file, update.file if update is not None else file)):
            yield from _forwards(each)
            yield from _backwards(each)
    for kept, where in drawn_again(file):
        if where.line in lines:
            yield misplaced_credit.finding(
                f"{kept} is drawn and carried out, and the log-probability is that of another "
                "draw, which nothing keeps",
                where=where,
                proof=Proof.RECORDED,
                title="The log-probability is of another draw than the one that was carried out",
                fix=f"Ask for the one that was carried out: log_prob({kept}).",
                guardrail="assert log_prob.exp() == dist.probs[action]",
            )
    if has_moving_targets(reading):
        yield from _endless(file)


def _of_each_step(
    case: Case, steps: Iterable[Snapshot | None], find: Callable[[Trace], _T | None]
) -> list[_T]:
    """What is found in every one of these steps; nothing if any is without it, or few are known."""
    found: list[_T] = []
    for each in dict.fromkeys(steps):
        trace = case.trace(each)
        one = None if trace is None else find(trace)
        if trace is not None and one is None:
            return []
        if one is not None:
            found.append(one)
    return found if len(found) >= case.limit("steps") else []


def _with_itself(case: Case, course: Course) -> Iterator[Finding]:
    found = _of_each_step(case, (course.first, course.earlier, course.last), ratio_of_one)
    for ratio in found:
        if ratio.again is not None:
            yield misplaced_credit.finding(
                f"the ratio at line {ratio.where.line} is exactly 1 for all samples of "
                f"{len(found)} kept steps: the old log-probabilities are those of the policy as "
                "it is now",
                "so its limits never apply, and nothing keeps an update near the policy that acted",
                where=ratio.again,
                proof=Proof.RECORDED,
                places=[("the ratio", ratio.where)],
                title="The policy is compared with itself, not with the one that acted",
                fix="Keep the log-probabilities from when the program acted, before the first "
                "update on what was gathered, and use those in every update.",
                guardrail="assert epoch == 0 or not torch.equal(log_prob, old_log_prob)",
            )
            return


def _pulled(case: Case, course: Course) -> Iterator[Finding]:
    trained = {id(each.tensor) for each in course.parameters}

    def learned(trace: Trace) -> Bootstrap | None:
        return learned_target(trace, trained) if trace.reproduced else None

    found = _of_each_step(case, (course.first, course.last), learned)
    if not found:
        return
    value, target, discount = found[0]
    yield misplaced_credit.finding(
        f"the target at line {target.line} is what is given plus {discount:g} times what the model "
        "itself answers, and has a history: the gradient changes both sides of the comparison",
        "so what comes next is pulled towards what is said of now, as much as the other way",
        where=value,
        places=[("the target", None if target.line == value.line else target)],
        title="The target is trained along with the answer",
        fix="Take the target as it is: compute it under torch.no_grad(), or .detach() it.",
        guardrail="assert not target.requires_grad",
    )


def _forwards(file: str) -> Iterator[Finding]:
    for total, where in returns_forwards(file):
        yield misplaced_credit.finding(
            f"the loop adds each reward to {total} from the first on, and keeps the sum of each "
            "step: that is what was paid before it",
            "these returns weigh the log-probabilities of what was drawn",
            where=where,
            title="Returns are summed from the wrong end",
            fix="Go from the last step to the first: for r in reversed(rewards), and turn the "
            "list around in the end.",
        )
        return


def _backwards(file: str) -> Iterator[Finding]:
    for total, where in returns_backwards(file):
        yield misplaced_credit.finding(
            f"the loop goes from the last reward to the first and appends {total} each time: the "
            "list begins with the last step, and nothing turns it around",
            "so the returns weigh the log-probabilities of other steps",
            where=where,
            title="Returns stand in the opposite order of the steps",
            fix=f"Put each in front, as in returns.insert(0, {total}), or turn the list around in "
            "the end: returns[::-1].",
        )
        return


def _endless(file: str) -> Iterator[Finding]:
    for each in ends_ignored(file):
        yield misplaced_credit.finding(
            f"{each.target} counts the value of the next state at the end of an episode, too",
            f"{each.ends} is fetched with each batch, and no line uses it",
            where=each.where,
            title="The value of what comes after the end of an episode is counted",
            fix=f"Leave it out at the end: reward + gamma * (1 - {each.ends}) * value.",
            guardrail="assert (target[done == 1] == reward[done == 1]).all()",
        )
        return
