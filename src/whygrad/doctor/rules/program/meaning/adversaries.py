"""Two players that should pull at one score in opposite directions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.recording.calls import Produced
from whygrad.recording.record import Course, Mark, Snapshot
from whygrad.recording.replay import Trace

__all__: list[str] = []


@rule(thresholds={"updates": (10, "of each player: fewer say little")})
def allied_adversaries(case: Case) -> Iterator[Finding]:
    """Generator and discriminator pull in the same direction.

    The discriminator lowers its score for what the generator makes, and the generator is to raise
    it. Here both lower it, or both raise it: the generator is trained to be found out, by a label
    of the wrong kind or a sign that is missing.

    Measured: The gradient that arrives at the discriminator's score for generated samples, in its
    own step and in that of the generator, at the first and at the latest recorded step.
    Fix: In the generator's step, ask for the label of real samples: criterion(D(G(z)), ones), or
    minimise -D(G(z)).mean().
    Guardrail: assert torch.autograd.grad(g_loss, fake_score)[0].mean() < 0
    """
    long = [each for each in case.courses if len(each.steps) >= case.limit("updates")]
    for maker, judge in permutations(long, 2):
        found = [
            (_slope(case, own, maker, judge), _slope(case, other, maker, judge))
            for own, other in ((maker.first, judge.first), (maker.last, judge.last))
        ]
        slopes = [each for pair in found for each in pair if each is not None]
        if len(slopes) < 4 or len({each > 0 for each, _ in slopes}) != 1:
            continue
        (made, mark), (judged, other) = slopes[-2:]
        way = "lower" if made > 0 else "raise"
        trace = case.trace(maker.last)
        root = None if trace is None else trace.root
        yield allied_adversaries.finding(
            f"both steps {way} the score of generated samples: the gradient that arrives there has "
            f"the mean {made:.2g} in the step of the generator and {judged:.2g} in that of the "
            "discriminator",
            where=mark.where if root is None else root.where,
            proof=Proof.REPLAYED,
            places=[
                ("the generator's score", mark.where),
                ("the discriminator's score", other.where),
            ],
        )
        return


def _slope(
    case: Case, step: Snapshot | None, maker: Course, judge: Course
) -> tuple[float, Mark] | None:
    """The gradient at the score of generated samples, all of one sign; None if it is not known."""
    trace = case.trace(step)
    if trace is None or not trace.reproduced:
        return None
    makes, judges = ({id(each.tensor) for each in one.parameters} for one in (maker, judge))
    if makes & judges:
        return None
    for mark in trace.marks():
        own = {id(each) for each in mark.module.parameters()}
        if mark.depth or not own or not own <= judges or type(mark.outputs) is not Produced:
            continue
        made = trace.made_by(mark.outputs)
        range = None if made is None else made.gradients.get(mark.outputs.place)
        if made is None or range is None or not _is_about(trace, made.number, makes):
            continue
        if range.low >= 0 or range.high <= 0:
            return range.mean, mark
    return None


def _is_about(trace: Trace, number: int, makes: set[int]) -> bool:
    """Whether a result was computed from what the generator made."""
    call = trace.call(number)
    behind = [] if call is None else [trace.call(each) for each in trace.ancestors(call)]
    return any(id(kept) in makes for each in behind if each is not None for kept in each.kept)
