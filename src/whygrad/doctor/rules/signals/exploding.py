"""Gradients that explode on their way back."""

from __future__ import annotations

import math
import statistics
import sys
from collections import Counter
from collections.abc import Iterator, Mapping

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.curve import tenths
from whygrad.doctor.evidence.growth import Growth, Runaway, growth, runaway
from whygrad.doctor.rules.optimisation.clipping import ratios_of
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.recording.record import Course
from whygrad.source import Where

__all__ = ["exploding_gradient"]


@rule(
    every_course=True,
    thresholds={
        "factor": (1e3, "from the end of a chain to its beginning"),
        "links": (5, "multiplications: fewer are no chain"),
        "learned": (0.2, "of the loss: a run that falls by more is left alone"),
        "rise": (1e3, "times the usual size during the run"),
        "astronomical": (1e6, "from end to beginning: however far the loss fell"),
        "clipped": (100, "of norm over limit: clipping hides it"),
        "tenths": (2, "times that the rate is divided by ten"),
        "first": (3, "updates that say what is usual"),
        "clear": (30, "times the usual size: more rules nothing out"),
    },
    cleared=lambda case: _cleared(case),
)
def exploding_gradient(case: Case, course: Course) -> Iterator[Finding]:
    """Gradients explode on their way back.

    Backward multiplies the gradient once for every layer or time step. If each factor is a
    little above one, the product is astronomical: the first layers, or the first time steps,
    get gradients that throw the weights far away in one update.

    Measured: In a replay of the first step, the size of the gradient at the beginning of a
    chain of multiplications over that at its end: a weight applied to its own results, or
    layers one after the other, times what the values grow by on their way there. Or a sequence
    that overflows from ordinary values as soon as its weight was updated, at a hundredth of the
    learning rate too. Without such a chain: gradients that grew a thousandfold during the run
    before it broke.
    Fix: Make each factor close to one: orthogonal initial weights, a tanh or a norm in between.
    Guardrail: torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # and log what it
    returns
    """
    found = growth(case, course, links=int(case.limit("links")), factor=case.limit("factor"))
    hidden = ratios_of(course)
    clipped = bool(hidden) and statistics.median(hidden) >= case.limit("clipped")
    suffers = case.progress(course).suffers(case.limit("learned")) or _goes_on(case, course)
    if found is not None and (clipped or suffers):
        yield _structural(case, found, clipped)
    elif (sequence := runaway(case, course)) is not None and _at_any_rate(case, course):
        yield _through_time(case, sequence)
    elif case.progress(course).broken:
        yield from _during_the_run(case, course)


def _goes_on(case: Case, course: Course) -> bool:
    """Whether the growth is astronomical, and still there at the end, however far the loss fell."""
    first = growth(case, course, factor=case.limit("astronomical"))
    if first is None or course.last is None or course.last is course.first:
        return False
    return growth(case, course, course.last, factor=case.limit("astronomical")) is not None


def _structural(case: Case, found: Growth, clipped: bool) -> Finding:
    last = found.chain[-1]
    weight = found.weight
    fix = exploding_gradient.fix
    if weight is not None:
        fix = (
            f"Scale {weight.name} {list(weight.tensor.shape)} so that its largest singular value "
            f"is about 1 (nn.init.orthogonal_; now each use multiplies by {found.per_link:.2g}), "
            "and put a tanh, a gate or a norm between the steps."
        )
    return exploding_gradient.finding(
        f"in the first step the gradient grows from {found.late:.3g} to {found.early:.3g} on its "
        f"way back through {len(found.chain)} multiplications: {found.per_link:.3g} × each",
        f"forward, the values grow {found.forward:.3g}-fold and reach "
        f"{last.after[0].largest:.3g} at the last of them",
        where=last.where if weight is not None else _line_of_layers(case, found),
        proof=Proof.INFERRED if clipped else Proof.REPLAYED,
        places=[] if weight is None else [(f"{weight.name} is made", weight.made_at)],
        fix=fix,
        parameters=[] if weight is None else [weight.name],
    )


def _line_of_layers(case: Case, found: Growth) -> Where:
    """The line that all blocks of one kind run, or the one that makes the last layer."""
    lines = {each.where.line: each.where for each in found.chain}
    line, times = Counter(each.where.line for each in found.chain).most_common(1)[0]
    last = found.chain[-1]
    if 2 * times > len(found.chain):
        return lines[line]
    return case.made_at(last.module) or last.where


def _at_any_rate(case: Case, course: Course) -> bool:
    """Whether the run would also have been thrown off at a tenth and a hundredth of its rate."""
    rates = tenths(case.limit("tenths"))
    tried = [case.descend(course, course.first, factor) for factor in rates]
    return all(each is not None and each.is_unstable for each in tried)


def _through_time(case: Case, found: Runaway) -> Finding:
    """A weight that a sequence applies to its own results, and that one update pushed over one."""
    name = "its weight" if found.weight is None else found.weight.name
    made = case.made_at(found.call.module) if found.whole else None
    return exploding_gradient.finding(
        f"{found.call.op} overflows although nothing above {found.given:.3g} went into the "
        f"sequence: {name} is applied {found.length} times to its own results",
        "updates of a tenth and of a hundredth of the size throw the loss off as well",
        where=made or found.call.where,
        step=0,  # the update that did it used the gradients of the steps before
        proof=Proof.TRIED,
        places=[("it overflows here", found.call.where)],
        fix=f"Keep what {name} multiplies by close to one over {found.length} steps: tanh in place "
        "of relu, an LSTM or GRU, or shorter sequences; and limit the update with "
        "clip_grad_norm_(model.parameters(), 1.0).",
        parameters=[] if found.weight is None else [found.weight.name],
    )


def _during_the_run(case: Case, course: Course) -> Iterator[Finding]:
    """No chain to blame, but the gradients grew until the run broke."""
    sizes = [(step, _total(step.gradients)) for step in course.steps]
    finite = [(step, size) for step, size in sizes if 0 < size < math.inf]
    if len(finite) < 2:
        return
    usual = statistics.median(size for _, size in finite[: int(case.limit("first"))])
    large = next(((s, size) for s, size in finite if size > case.limit("rise") * usual), None)
    if large is None:
        return
    step, size = large
    name = max(step.gradients, key=lambda each: step.gradients[each] or 0.0)
    known = case.run.parameter(name)
    yield exploding_gradient.finding(
        f"the gradient's size went from {usual:.3g} to {size:.3g} at step {step.number}, "
        f"largest in {name}",
        where=(known.made_at if known is not None else None) or step.where,
        step=step.number,
        proof=Proof.USUAL,
        parameters=[name],
    )


def _total(gradients: Mapping[str, float | None]) -> float:
    return max((each for each in gradients.values() if each is not None), default=0.0)


def _cleared(case: Case) -> str | None:
    for course in case.courses:
        sizes = [_total(step.gradients) for step in course.steps]
        usual = max(statistics.median(sizes), sys.float_info.min) if sizes else math.nan
        if sizes and max(sizes) < case.limit("clear") * usual:
            return f"the largest gradient was {max(sizes) / usual:.3g} times the usual one"
    return None
