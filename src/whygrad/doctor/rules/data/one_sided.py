"""Pictures that are flipped, turned or cropped without what belongs to them.

The text says that a variable is moved at random and its partner is not.  That alone is no fault: to
a class it does not matter which way a picture is turned.  So the targets must be places: as large
as the input, named as points and boxes, or classes that are named by directions.  And it must show:
the targets of some samples fit once they are moved too, or the run has not learned them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.data.mixture import unmixed_targets
from whygrad.doctor.evidence.data.orientation import gains, is_dense, is_picture, left_unknown
from whygrad.doctor.evidence.standing import batches_of
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.preparing.augmenting import Moved, has_sides, moved_alone
from whygrad.recording.ranges import Array
from whygrad.recording.record import Course
from whygrad.recording.replay.reading import Reading

__all__: list[str] = []

_PLACES = re.compile(
    r"mask|seg|box|bb|key_?p|kp|landmark|joint|(^|_)(pts?|points?|xy|pos|gt)($|_)|coord|cent(er|re)"
    r"|heat|corner|depth|flow|offset|locat|contour|pose|angle|theta"
)


@rule(
    thresholds={
        "samples": (8, "fewer do not show which way targets lie"),
        "better": (0.15, "of a correlation by which a target fits better when it is moved"),
        "some": (0.15, "of the samples that do: of a flip in half of the cases it is half"),
        "unlearned": (0.1, "of their variance, where targets that are points were not learned"),
        "mixed": (0.5, "of what the model is given of another sample than the target is of"),
        "most": (0.5, "of what ignoring the input costs, where the masks were not learned"),
    },
)
def one_sided_augmentation(case: Case, course: Course) -> Iterator[Finding]:
    """The inputs are moved at random, and the targets stay where they were.

    A picture that is flipped, turned, shifted or cropped takes its mask, its boxes and its points
    along. If only the picture is moved, they point to where nothing is any more, in as many samples
    as are moved: the model learns the middle between the right answer and the mirrored one.

    Measured: The statement that moves one of two variables under a random choice and not the other,
    whose targets are places; and the kept batches: how many targets fit their input better once
    they are flipped or turned as well, or what part of them the run has not learned. Of inputs that
    are a sum of samples in two orders, in which order the targets are.
    Fix: Draw once and move both: if random.random() < 0.5: image, mask = image.flip(-1),
    mask.flip(-1); a point becomes width - 1 - x.
    Guardrail: assert augment(image, image.clone())[1].equal(augmented_image)  # one draw for both
    """
    known = [each for each in batches_of(case, course) if each.target is not None]
    mixed = _mixed(case, known)
    if mixed is not None:
        yield mixed
        return
    files = [each.where.file for each in course.steps[:1] if each.where is not None]
    for moved in (each for file in files for each in moved_alone(file)):
        shown = _shown(case, moved, known)
        if shown is None:
            continue
        other = " and ".join(f"`{each}`" for each in moved.others)
        yield one_sided_augmentation.finding(
            f"`{moved.name}` is moved at random ({moved.how}), and {other}, which belongs to it, "
            "is not",
            shown,
            where=moved.where,
            proof=Proof.INFERRED,
            remedy="which samples were moved is known to the program alone",
        )
        return


def _mixed(case: Case, known: list[Reading]) -> Finding | None:
    """Samples that are mixed with others, whose targets nobody asks for."""
    mixtures = [unmixed_targets(each) for each in known]
    found = [each for each in mixtures if each is not None]
    most = max(found, key=lambda each: each.share, default=None)
    if most is None or len(found) < len(mixtures) or most.share < case.limit("mixed"):
        return None
    return one_sided_augmentation.finding(
        f"each sample is mixed with another one of the batch: up to {most.share:.0%} of what the "
        "model is given is of that one",
        "the targets of the loss are those of the first alone, in all batches that were kept",
        title="The inputs are mixed, and the targets are not",
        where=known[-1].terms[0].call.where,
        proof=Proof.RECORDED,
        fix="Mix the targets as the inputs: lam * loss(out, y) + (1 - lam) * loss(out, y[order]).",
        places=[("mixed here", most.call.where)],
        remedy="it takes the order that the program drew",
    )


def _shown(case: Case, moved: Moved, known: list[Reading]) -> str | None:
    """What the batches say: targets that lie the other way, or that were not learned."""
    pairs = [pair for each in known if (pair := _pair(each)) is not None]
    if sum(len(target) for _, target in pairs) < case.limit("samples"):
        return None
    if all(is_dense(*pair) for pair in pairs):
        found = [each for pair in pairs for each in gains(*pair)]
        share = float(np.mean([each > case.limit("better") for each in found])) if found else 0.0
        if share >= case.limit("some"):
            return f"{share:.0%} of the targets fit their inputs better once they are moved as well"
        return _unlearned(case, known, case.limit("most"))
    if all(target.dtype.kind in "iub" for _, target in pairs):
        sides = has_sides(moved.where.file)
        return _unlearned(case, known, case.limit("unlearned")) if sides else None
    if not any(_PLACES.search(each.lower()) for each in moved.others):
        return None
    return _unlearned(case, known, case.limit("unlearned"))


def _pair(reading: Reading) -> tuple[Array, Array] | None:
    """The pictures or sequences of a batch, and their targets."""
    given = [reading.trace.array(each) for each in reading.inputs]
    target = reading.trace.array(reading.target)
    pictures = [
        each for each in given if is_picture(each) and target.ndim and len(each) == len(target)
    ]
    return (pictures[0], target) if pictures else None


def _unlearned(case: Case, known: list[Reading], least: float) -> str | None:
    """The part of the targets that the latest answers do not know, where it is too large."""
    reading = known[-1]
    if reading.prediction is None:
        return None
    made = reading.trace.array(reading.prediction)
    wanted = reading.trace.array(reading.target)
    if made.shape != wanted.shape or wanted.dtype.kind != "f":
        level, loss = case.chance(reading.trace.snapshot), reading.trace.loss
        if level is None or loss < least * level:
            return None
        return (
            f"the loss is {loss:.4g} in the end; an answer that ignores the input costs {level:.4g}"
        )
    worst = left_unknown(made, wanted)
    if worst < least:
        return None
    return f"{worst:.0%} of the variance of the targets is not learned in the end"
