"""An agent whose actions get the credit for something else.

What an agent did is credited with what came after it: the rewards from then on, up to the end of
the episode.  Python adds these up, so the text says how; the record says that the result is what
the loss is made of.
"""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.provenance import chosen_draws, has_moving_targets
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.episodes import drawn_again, ends_ignored, returns_forwards
from whygrad.recording.record import Course

__all__: list[str] = []


@rule(thresholds={"updates": (10, "fewer are no training")})
def misplaced_credit(case: Case, course: Course) -> Iterator[Finding]:
    """Actions get the credit for something that they did not bring about.

    The return of a step is the sum of the rewards from then on: summed from the first step forwards
    it is what came before the action. The value of the state after the last one is zero: without
    (1 - done) an end that is a failure is as good as any other state. And the log-probability has
    to be that of the action that was carried out, not of another draw.

    Measured: The program adds up discounted rewards in the order in which they came, or fetches the
    ends of episodes with each batch and uses them nowhere, or takes the log-probability of a draw
    that it does not keep; and a training pass has log-probabilities of draws in its loss, or
    targets that a model answers.
    Fix: for r in reversed(rewards): G = r + gamma * G; target = r + gamma * (1 - done) * value.
    Guardrail: assert returns[-1] == rewards[-1]
    """
    file, reading = case.run.script, case.reading(course.last or course.first)
    if file is None or reading is None or len(course.steps) < case.limit("updates"):
        return
    draws, lines = chosen_draws(reading.trace), {each.where.line for each in reading.trace.calls}
    if draws:
        yield from _forwards(file)
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
