"""Batch normalisation whose statistics for evaluation are not those of the data."""

from __future__ import annotations

import math
from collections.abc import Iterator

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.experiments.evaluated import by_other_weights, by_statistics, kept, norms_of
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.recording.record import Course

__all__: list[str] = []


@rule(
    thresholds={
        "worse": (3.0, "times the loss of the same batches in training mode"),
        "unknown": (0.4, "of what ignoring the input costs: so little is left in evaluation"),
        "owed": (0.5, "of the difference that fresh statistics take away: it is their doing"),
        "share": (0.1, "of a statistic that each batch replaces: the usual momentum, and no fault"),
        "updates": (10, "fewer have not filled any statistics yet"),
    },
)
def batchnorm_statistics(case: Case, course: Course) -> Iterator[Finding]:
    """In evaluation, batch normalisation uses statistics that are not those of the data.

    In training a layer normalises by the batch and keeps running means for later. If those have not
    followed, because each batch replaces too little of them, the model is another one in
    evaluation, on any sample, and it looks like overfitting.

    Measured: The loss of the kept training batches with the latest weights: in training mode, with
    the running statistics as evaluation uses them, and with the mean of the statistics of these
    very batches.
    Fix: Leave momentum at 0.1 (it is the share of the new batch), or train for more steps.
    Guardrail: assert bn.num_batches_tracked * bn.momentum > 3
    """
    judged = not all(each.training for each in case.run.modes)
    steps = [each for each in kept(course) if norms_of(each)]
    if not steps or not judged or len(course.steps) < case.limit("updates"):
        return
    norms = norms_of(steps[0])
    small = min(norms, key=lambda each: _share(each.module.momentum))
    # None of it is the program's own doing: it sets them, or keeps them as they are, on purpose.
    if not 0 < _share(small.module.momentum) < case.limit("share"):
        return
    # Those that are replaced more slowly follow as well, if there is the time for it.
    if _share(small.module.momentum) * len(course.steps) > 1 / case.limit("share"):
        return
    trained = by_other_weights(case, steps, steps[0].values)
    stored = by_statistics(case, steps, fresh=False)
    if trained is None or stored is None or not math.isfinite(stored):
        return
    chance = case.chance(course.last) or case.progress(course).start
    if stored < max(case.limit("worse") * trained, case.limit("unknown") * chance):
        return
    fresh = by_statistics(case, steps, fresh=True)
    if fresh is None or not math.isfinite(fresh):
        return
    if stored - fresh < case.limit("owed") * (stored - trained):
        return
    momentum = small.module.momentum
    yield batchnorm_statistics.finding(
        f"{len(steps)} kept training batches cost {trained:.4g} in training mode and {stored:.4g} "
        "in evaluation mode, with the latest weights",
        f"with the mean of the statistics of these batches they cost {fresh:.4g}",
        f"{small.path or 'the layer'} has momentum={momentum:g}: after {len(course.steps)} updates "
        f"{math.exp(-momentum * len(course.steps)):.0%} of its first statistics are left",
        where=case.made_at(small.path),
        proof=Proof.TRIED,
        fix=f"Leave out momentum={momentum:g}: it is the share of the new batch, and 0.1 is usual.",
    )


def _share(momentum: float | None) -> float:
    """None stands for the mean of all batches so far."""
    return 1.0 if momentum is None else float(momentum)
