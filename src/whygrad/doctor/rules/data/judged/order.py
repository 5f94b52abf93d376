"""Lists that do not belong together: another order, the last batch alone, all epochs at once."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import pairwise

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.rule import Finding, Proof
from whygrad.doctor.source.judging.flow import Flow, loader_made
from whygrad.doctor.source.lines import place
from whygrad.recording.judging.looks import Judged

__all__ = ["FORMS"]

_Tell = Callable[..., Finding]

_MEANT = re.compile(r"batch|last|example|sample", re.IGNORECASE)  # somebody knows what it is
_PARTS = re.compile(r"fold|split|task|stream|seed|chunk", re.IGNORECASE)  # of one figure


def _shuffled(case: Case, looks: list[Judged], flow: Flow | None, tell: _Tell) -> Finding | None:
    """Answers in the order of a loader that shuffles, labels in an order of their own."""
    look = looks[-1]
    gone, pair = look.gone, look.pair
    if flow is None or gone is None or pair is None or not gone.shuffles:
        return None
    if look.sides[0].range.size != gone.samples or gone.samples < case.limit("answers"):
        return None
    from_loop = [flow.of_loop(each) for each in flow.sides]
    if sorted(from_loop) != [False, True] or not _by_chance(case, look):
        return None
    answers, labels = (look.sides[from_loop.index(each)].text for each in (True, False))
    classes = pair.overlap > 0
    return tell(
        f"{answers} has the answers in the order in which a loader with a {gone.sampler} gave out "
        f"its {gone.samples} samples; {labels} was not collected from it and has its own order",
        f"{pair.agreed:.1%} are equal, as {pair.chance:.1%} would be in any order; in the best one "
        f"it would be {pair.overlap:.1%}" if classes else
        f"they are as large as each other and have a correlation of {pair.correlation:.2g}",
        where=loader_made(look) or flow.where,
        step=looks[0].after,
        proof=Proof.INFERRED,
        fix="Make the loader with shuffle=False, or collect the labels in the same loop.",
        places=[
            ("the loop that gives the order", place(gone.file, gone.line)),
            ("compared here", flow.where),
        ],
    )  # fmt: skip


def _by_chance(case: Case, look: Judged) -> bool:
    """Whether the two sides are alike as a whole, and go together no better than by chance."""
    assert look.pair is not None
    pair, count = look.pair, look.sides[0].range.size
    if pair.overlap > 0:
        noise = math.sqrt(pair.chance * (1 - pair.chance) / count)
        alike = pair.overlap > pair.chance + 2 * case.limit("noise") * noise
        return alike and abs(pair.agreed - pair.chance) < case.limit("noise") * noise
    spreads = sorted(each.range.std for each in look.sides)
    alike = spreads[1] < case.limit("alike") * spreads[0]
    return alike and abs(pair.correlation) < case.limit("noise") / math.sqrt(count)


def _last_batch(case: Case, looks: list[Judged], flow: Flow | None, tell: _Tell) -> Finding | None:
    """Both sides are what a loop over batches left behind."""
    look = looks[-1]
    gone, loop = look.gone, None if flow is None else flow.loop
    if flow is None or gone is None or loop is None or len(flow.sides) != 2:
        return None
    size = look.sides[0].range.shape[0]
    after = flow.where.line > (loop.end_lineno or loop.lineno) and loop.lineno == gone.line
    if not after or look.pair is None or size * case.limit("part") > gone.samples:
        return None
    if not all(flow.is_left_over(each) for each in flow.sides) or _MEANT.search(flow.where.text):
        return None
    return tell(
        f"{look.sides[0].text} and {look.sides[1].text} are set anew for each batch, and compared "
        "behind the loop: they are those of the last batch",
        f"{size} samples are judged of the {gone.samples} that the loop went through",
        where=flow.where,
        step=looks[0].after,
        proof=Proof.INFERRED,
        fix="Collect answers and labels of all batches in lists, and judge them together.",
        places=[("the loop over batches", place(gone.file, gone.line))],
    )


def _growing(case: Case, looks: list[Judged], flow: Flow | None, tell: _Tell) -> Finding | None:
    """Lists that are judged once an epoch, and have all epochs before in them."""
    sizes = [each.range.shape[0] for look in looks for each in look.sides[:1]]
    if flow is None or len(sizes) < case.limit("epochs") or len(sizes) != len(looks):
        return None
    first = list(pairwise(sizes[: int(case.limit("epochs"))]))
    times = [look.after for look in looks[: int(case.limit("epochs"))]]
    if any(later - earlier != sizes[0] for earlier, later in first):
        return None
    if any(later <= earlier for earlier, later in pairwise(times)):
        return None
    kept = next((one for each in flow.sides if (one := flow.never_emptied(each))), None)
    if kept is None or _PARTS.search(flow.innermost()):
        return None
    return tell(
        f"{kept} is made once and filled in every epoch: {', '.join(map(str, sizes))} answers were "
        "judged in it, one time after the other",
        "the figure of an epoch is that of all epochs up to then, also of a model that knew less",
        where=flow.made(kept) or flow.where,
        step=looks[0].after,
        proof=Proof.INFERRED,
        fix=f"Begin each epoch with an empty list: {kept} = [].",
        places=[("judged here", flow.where)],
    )


FORMS = (_shuffled, _last_batch, _growing)
