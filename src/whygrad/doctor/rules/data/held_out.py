"""Data that a model is judged by: samples that it was trained on, or that were prepared otherwise.

What each line gives to a model was looked at: marks of the samples and how large their values are.
Names tell which of them are meant to be new to the model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.curve import ending
from whygrad.doctor.evidence.trained import begins_anew, differentiated_lines, training_lines
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.loops import loops_around
from whygrad.doctor.source.naming import calls_a_part, held_out_name, is_made_up, made_from, says
from whygrad.doctor.source.preparing.fitting import fitted_on_held_out
from whygrad.ops.families import DIFFERENCES
from whygrad.recording.calls import members
from whygrad.recording.evaluation import Fed
from whygrad.recording.judging.looks import Judged
from whygrad.recording.record import Evaluation
from whygrad.source import Where
from whygrad.why.syntax import covers

__all__ = ["preprocessing_mismatch"]

_FOLDS = r"fold|cross_?val"


class _Judged(NamedTuple):
    """What a line gives to a model to judge it, and what it was trained on."""

    fed: Fed
    name: str  # of the data
    trained: list[Fed]


def _all_judged(case: Case) -> Iterator[_Judged]:
    lines, differentiated = training_lines(case), differentiated_lines(case)
    both = set(case.run.training_lines.values())  # lines that evaluate as well, without gradients
    for each in case.run.fed.values():
        trains = each.where in differentiated and (each.recorded or each.where not in both)
        if trains or not each.ranges:
            continue
        trained = [
            one
            for one in case.run.fed.values()
            if one.module is each.module
            and one.where in lines
            and one.recorded
            and one.ranges
            and not _is_beside_the_loop(case, one)
        ]
        # A line that training goes through as well says nothing of what is given.
        shared = {caller for one in trained for caller in one.callers}
        own = [caller for caller in each.callers if caller not in shared]
        name = held_out_name(own) if trained else None
        if name is None or calls_a_part(each.where):
            continue
        if is_made_up(each.where) and not any(is_made_up(one.where) for one in trained):
            continue  # a grid that answers are shown on; one that is trained on as well is data
        if not _is_given_answers(case, each.module):
            yield _Judged(each, name, trained)


def _is_given_answers(case: Case, module: Any) -> bool:
    """Whether a model gets, in training, what another one answers: no data that were prepared."""
    for course in case.courses:
        reading = case.reading(course.first)
        if reading is None:
            continue
        own = [each.inputs for each in reading.trace.marks() if each.module is module]
        given = [reading.trace.value(each) for each in members(own)]
        if any(getattr(each, "requires_grad", False) and not each.is_leaf for each in given):
            return True
    return False


@rule(
    severity=1,
    thresholds={
        "rows": (4, "samples that were seen before: fewer may be the same by chance"),
        "share": (0.05, "of the samples on either side"),
        "kinds": (
            12,
            "different samples on either side: fewer are values that come again and again",
        ),
        "coordinates": (2, "numbers in a sample: so few are a place on a grid, which others share"),
    },
)
def data_leakage(case: Case) -> Iterator[Finding]:
    """The model is judged by samples that it was trained on.

    What is called a test is one of memory: the figure says how well the training samples are known,
    not how the model does on others.

    Measured: Marks of the samples that each line gives to the model, in training and in evaluation;
    rows with few different values do not count.
    Fix: Split before anything else is done with the samples, and keep the parts apart.
    Guardrail: assert not set(train_idx) & set(test_idx)
    """
    for each in _all_judged(case):
        if says(each.fed.callers, _FOLDS):
            continue  # told as a model that goes on from fold to fold
        if begins_anew(case, each.fed.module):
            continue  # it may have forgotten what it was trained on
        if _is_one_of_several(case, each.trained[0]):
            continue  # a user, or an item, comes again with others
        if _picks_its_answers(case):
            continue  # a graph is given as a whole, and the nodes are split
        passes = 1 + max((course.used for course in case.courses), default=-1)
        found = overlap(each.fed, each.trained, passes)
        rows = {row for one in each.trained for row in one.before(passes)}
        few = min(len(each.fed.rows), len(rows)) or 1
        if found < case.limit("rows") or found < case.limit("share") * few:
            continue
        if few < case.limit("kinds") or _are_places(case, each):
            continue
        made = made_from(each.fed.where.file, each.name)
        yield data_leakage.finding(
            f"{found} of the {len(each.fed.rows)} samples of {each.name} that were looked at are "
            f"among {len(rows)} that the model was trained on",
            where=made or each.fed.where,
            step=0,
            proof=Proof.RECORDED,
            places=[("evaluated here", each.fed.where), ("trained here", each.trained[0].where)],
            fix=f"Take {each.name} from samples that no training batch has: split first.",
        )
        return


def _are_places(case: Case, judged: _Judged) -> bool:
    """Whether samples are places that a function is asked at, some of which two grids share.

    Where all of them were trained on, it is no chance.
    """
    size = max(math.prod(each.shape[1:]) for each in judged.fed.ranges)
    known = {row for one in judged.trained for row in one.rows}
    return size <= case.limit("coordinates") and not known.issuperset(judged.fed.rows)


def _is_one_of_several(case: Case, fed: Fed) -> bool:
    """Whether a sample is what several models are given, side by side: what one gets is a part."""
    return any(
        one.recorded and one.where.code is fed.where.code and one.module is not fed.module
        for one in case.run.fed.values()
    )


def _picks_its_answers(case: Case) -> bool:
    """Whether the loss is of some rows of what the model answers: what it is given is no split."""
    for course in case.courses:
        reading = case.reading(course.first)
        if reading is None or reading.prediction is None or not reading.outputs:
            continue
        rows = {each.shape[0] for each in reading.outputs if each.ndim}
        if reading.prediction.ndim and all(each > reading.prediction.shape[0] for each in rows):
            return True
    return False


def _is_beside_the_loop(case: Case, fed: Fed) -> bool:
    """Whether a line is called from the function that updates, and from outside of its loop.

    An attack on test samples may use the very line that the training uses.
    """
    steps = {step.where for course in case.courses for step in course.steps[-1:] if step.where}
    for code, instruction in fed.callers:
        for step in steps:
            loops = loops_around(step) if step.code is code else []
            if loops:
                return not covers(loops[0].node, Where(code, instruction).line)
    return False


def overlap(fed: Fed, trained: list[Fed], passes: int) -> int:
    """How many samples of a line are among those that were trained on, in so many passes.

    Samples that gradients were asked for after the last update, as for a picture of what matters
    in them, trained nothing.
    """
    return len(set(fed.rows) & {row for each in trained for row in each.before(passes)})


@rule(
    severity=1,
    thresholds={
        "samples": (16, "on each side: fewer do not show how large values are"),
        "times": (2.5, "as far spread, or as little"),
        "mildly": (1.7, "as far spread, and shifted as well …"),
        "shift": (0.5, "… by so many deviations"),
        "level": (1e-6, "of the spread: constant inputs have none"),
        "own": (0.3, "from mean 0 and deviation 1, or the ends 0 and 1: scaled by themselves"),
        "learned": (0.4, "of what ignoring the input costs, for the training loss, where …"),
        "worse": (2.0, "… held-out samples cost so many times that, or …"),
        "own error": (0.8, "… of how far they are spread, for the errors of their answers, or …"),
        "right": (0.8, "… fewer of their answers are right"),
    },
)
def preprocessing_mismatch(case: Case) -> Iterator[Finding]:
    """The model is judged by inputs that were prepared in another way than in training.

    It has learned what values of one size mean and is asked about values of another. Its answers
    are those to inputs it has never seen.

    Measured: Mean and standard deviation of what the model is given, in training and beside it;
    scalers, codes and vocabularies that the text takes from held-out data, with what it shows in
    their values or in how they are judged; and where validation looks like overfitting, a short
    training that knows training samples it has not seen.
    Fix: Send both through the same function, with the statistics of the training set.
    Guardrail: assert abs(x_test.mean() - x_train.mean()) < x_train.std()
    """
    fitted = _fitted_again(case)
    if fitted is not None:
        yield fitted
        return
    for each in _all_judged(case):
        shapes = {one.shape[1:] for fed in (each.fed, *each.trained) for one in fed.ranges}
        if len(shapes) != 1:
            continue
        here, there = _spread([each.fed]), _spread(each.trained)
        if min(here[0], there[0]) < case.limit("samples"):
            continue
        (_, mean, spread), (_, usual, usual_spread) = here, there
        wider = max(spread, usual_spread)
        if min(spread, usual_spread) <= case.limit("level") * max(1.0, wider):
            continue
        times = wider / min(spread, usual_spread)
        shift = abs(mean - usual) / wider
        mildly = times > case.limit("mildly") and shift > case.limit("shift")
        if times < case.limit("times") and not mildly:
            continue
        made = made_from(each.fed.where.file, each.name)
        yield preprocessing_mismatch.finding(
            f"in training the inputs have mean {usual:.3g} and deviation {usual_spread:.3g}",
            f"{each.name} has mean {mean:.3g} and deviation {spread:.3g}: "
            f"{times:.3g} times {'more' if spread > usual_spread else 'less'}",
            where=made or each.fed.where,
            step=each.fed.after,
            proof=Proof.INFERRED,
            places=[("evaluated here", each.fed.where), ("trained here", each.trained[0].where)],
            fix=f"Prepare {each.name} exactly as the training inputs: the same division, the same "
            "mean and deviation.",
        )
        return


def _fitted_again(case: Case) -> Finding | None:
    """Statistics or codes that the text takes from held-out data."""
    files = {step.where.file for course in case.courses for step in course.steps[:1] if step.where}
    for each in (one for file in sorted(files) for one in fitted_on_held_out(file)):
        shown = _own_statistics(case, each.kind) if "Scaler" in each.kind else None
        shown = shown or _is_worse(case)
        if shown is not None:
            return preprocessing_mismatch.finding(
                f"{each.how} takes its numbers from `{each.name}`, and those of training from the "
                "training data: the same value means something else in each",
                shown,
                where=each.where,
                proof=Proof.INFERRED,
                fix=f"Keep what was fitted on the training data, and only apply it to {each.name}: "
                "scaler.transform(x_test), the mean, the codes or the vocabulary of training.",
            )
    return None


def _own_statistics(case: Case, kind: str) -> str | None:
    """Samples beside training that are on the scale of a scaler which was fitted on them."""
    lines, near = training_lines(case), case.limit("own")
    for fed in case.run.fed.values():
        count, mean, spread = _spread([fed])
        if fed.where in lines or count < case.limit("samples"):
            continue
        low, high = min(each.low for each in fed.ranges), max(each.high for each in fed.ranges)
        if kind.startswith("MinMax") and abs(low) < near and abs(high - 1) < near:
            return f"what is given at {fed.where} lies between {low:.2f} and {high:.2f}"
        if abs(mean) < near and abs(spread - 1) < near:
            return f"what is given at {fed.where} has mean {mean:.2f} and deviation {spread:.2f}"
    return None


def _is_worse(case: Case) -> str | None:
    """What is measured at the end of a training that learned, and is far worse than that."""
    for course in case.courses[:1]:
        chance, losses = case.chance(course.last), case.healthy_losses(course)
        if chance is None or not losses or ending(losses) > case.limit("learned") * chance:
            continue
        end, last = ending(losses), course.steps[-1].number
        high = max(case.limit("worse") * end, case.limit("learned") * chance)
        figures = [each for each in case.run.figures if each.after > last]
        said = [
            *(f"{each.value:.4g} is measured" for each in case.run.evaluations
              if each.after > last and math.isfinite(each.value) and each.value > high),
            *(f"{each.value:.0%} are right" for each in figures
              if each.correct and each.value < case.limit("right")),
            *(_wide_error(case, each) for each in figures if not each.correct),
            *(_judged_worse(case, looks[-1]) for looks in case.run.judged.values()
              if looks[-1].after > last),
        ]  # fmt: skip
        shown = next((each for each in said if each is not None), None)
        return None if shown is None else f"the training loss is {end:.4g} at the end, and {shown}"
    return None


def _wide_error(case: Case, figure: Evaluation) -> str | None:
    """A mean error by hand, or a mean square, that is as large as the labels are spread."""
    for each in case.run.comparisons:
        same = each.where.file == figure.where.file and each.where.line == figure.where.line
        labels = [side.range.std for side in each.sides if side.steps is None]
        if not same or each.op not in DIFFERENCES or len(labels) != 1:
            continue
        if figure.value > case.limit("own error") * max(labels[0], labels[0] ** 2):
            return (
                f"an error of {figure.value:.4g} is measured, where labels vary by {labels[0]:.3g}"
            )
    return None


def _judged_worse(case: Case, look: Judged) -> str | None:
    """Answers that a figure lays beside their labels, and that do not follow them."""
    if look.pair is None or look.sides[0].range.size < case.limit("samples"):
        return None
    if look.kind in ("equal", "classes") and look.pair.overlap > 0:
        right = look.pair.agreed
        return f"{right:.0%} are right" if right < case.limit("right") else None
    spread = min(each.range.std for each in look.sides)
    if look.kind not in ("errors", "difference") or not spread > 0:
        return None
    if look.pair.error < case.limit("own error") * spread:
        return None
    return (
        f"{look.sides[0].text} and {look.sides[1].text} differ by {look.pair.error:.3g}, where "
        f"they vary by {spread:.3g}"
    )


def _spread(feds: list[Fed]) -> tuple[int, float, float]:
    """How many samples were looked at, their mean and their deviation."""
    ranges = [each for fed in feds for each in fed.ranges if each.finite]
    sizes = sum(each.size for each in ranges) or 1
    mean = sum(each.mean * each.size for each in ranges) / sizes
    square = sum((each.std**2 + each.mean**2) * each.size for each in ranges) / sizes
    return sum(each.shape[0] for each in ranges), mean, math.sqrt(max(0.0, square - mean**2))
