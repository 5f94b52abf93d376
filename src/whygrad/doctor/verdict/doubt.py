"""Whether a run is shown to have learned: what "nothing wrong" asserts beside "nothing was found".

A loss that fell, and stands below what ignoring the input would cost, shows it.  The loss of
players against each other, of a policy or of targets that move with the model shows nothing either
way; a run with such losses only is left open.
"""

from __future__ import annotations

import math

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.progress import draws_itself, is_entangled, take_turns
from whygrad.doctor.evidence.provenance import chosen_draws, has_moving_targets
from whygrad.doctor.evidence.standing import Standing, batches_of, standing_of
from whygrad.doctor.experiments.rehearsal import chance_of
from whygrad.ops import families as ops
from whygrad.recording.record import Course
from whygrad.recording.replay.reading import reduction_of
from whygrad.recording.replay.runner import is_same_loss

__all__ = ["doubt_of_learning", "main_courses"]

_FELL = 0.05  # of a loss: less may be the difference between two batches
_NEAR = 0.96  # of what ignoring the input costs: no better than that
_FAR = 4.0  # times that: a loss that begins so high …
_NEAR_FROM_FAR = 0.9  # … has to come further below it
_SOME = 1e-4  # of a loss; where all are to answer the same, ignoring the input costs nothing
_ABOVE = 1.5  # times that, of one batch: worse than no model
_MAIN = 0.2  # of the updates of the longest course: fewer are a part of something else


def doubt_of_learning(case: Case) -> str | None:
    """Why nobody can say that the run learned; None if it is shown."""
    courses = case.training
    if not case.run.passes:
        return "the program never called backward()"
    if not courses and any(each.optimizer.options.get("maximize") for each in case.courses):
        return "what is trained goes uphill, so the value of the loss does not tell"
    if not courses:
        return "no parameter was ever updated after a backward()"
    vain = _without_gradients(case, _MAIN * len(courses[0].steps))
    if vain is not None:
        return vain
    untold = None
    shown = False
    for course in main_courses(case):
        silent = _tells_nothing(case, course)
        if silent is None:
            doubt = _doubt(case, course)
            if doubt is not None:
                return doubt
            shown = True
        untold = untold or silent
    return None if shown else untold


def main_courses(case: Case) -> list[Course]:
    """The trainings that the run is about."""
    courses = case.training
    return [each for each in courses if len(each.steps) >= _MAIN * len(courses[0].steps)]


def _without_gradients(case: Case, least: float) -> str | None:
    """A training of so many updates, none of which had a gradient: it cannot have learned."""
    for course in case.courses:
        known = (size for step in course.steps for size in step.gradients.values())
        if len(course.steps) >= least and all(size is None for size in known):
            made = course.optimizer.made_at
            at = "" if made is None else f" made at line {made.line}"
            return (
                f"none of the {len(course.steps)} updates of the {course.optimizer.kind}{at} had a "
                "gradient"
            )
    return None


def _tells_nothing(case: Case, course: Course) -> str | None:
    """Why the value of a loss is no measure of learning; None if it is one."""
    known = batches_of(case, course)
    drawn = course.first is not None and draws_itself(course.first)
    if drawn or any(chosen_draws(each.trace) for each in known):
        return "the loss is about what the model itself draws, so its value does not tell"
    meanwhile = [each for each in case.courses if take_turns(course, each)]  # no later phases
    if is_entangled(course, meanwhile):
        return "the losses are of models that move each other's aim, so their values do not tell"
    if any(map(has_moving_targets, known)):
        return "the targets move with the model, so the value of the loss does not tell"
    return None


def _doubt(case: Case, course: Course) -> str | None:
    progress, standing = case.progress(course), _standing(case, course)
    if progress.broken:
        return "a loss or a gradient was not finite"
    if not course.losses:
        return "no loss is known of the updates"
    margin = _at_margin(case, course)
    if margin is not None:
        return f"what is to be told apart costs its margin of {margin:g}, as if all were alike"
    if standing is not None:
        # A curriculum ends far from the batches that it began with.
        end = progress.end if progress.gain >= _FELL else standing.reached
        from_far = progress.opening > _FAR * standing.constant  # its fall shows nothing learned
        near = _NEAR_FROM_FAR if from_far else _NEAR
        if min(standing.reached, end) < near * standing.constant:
            return None
        return (
            f"it ends at a loss of {standing.reached:.4g}, where the best answer that ignores the "
            f"input costs {standing.constant:.4g}"
        )
    chance = chance_of(case, course) if _is_all_of_it(case, course) else None
    if chance is not None and chance > _SOME and progress.end > _ABOVE * chance:
        return (
            f"it ends at a loss of {progress.end:.4g}, where an answer that ignores the input "
            f"costs {chance:.4g}"
        )
    even = _of_even_answers(case, course)
    if even is not None and progress.end >= _NEAR * even:
        return (
            f"it ends at a loss of {progress.end:.4g}, where saying the same of all classes costs "
            f"{even:.4g}"
        )
    if progress.gain >= _FELL:
        return None
    return f"the loss hardly fell: {progress.start:.4g} at first, {progress.end:.4g} at the end"


def _is_all_of_it(case: Case, course: Course) -> bool:
    """Whether the loss is the term of which it is known what ignoring the input costs."""
    reading = case.reading(course.first)
    call = None if reading is None else reading.meeting
    if reading is None or call is None or not call.outputs:
        return False
    if call.op not in ops.DIFFERENCES:
        return call.op in ops.CLASS_LOSSES | ops.BINARY_LOSSES | ops.DISTANCE_LOSSES
    apart = reading.trace.array(call.outputs[0]).astype(np.float64)
    means = float(np.mean(apart**2)), float(np.mean(np.abs(apart)))
    return any(is_same_loss(each, reading.trace.loss) for each in means)


def _of_even_answers(case: Case, course: Course) -> float | None:
    """What the latest step would cost if all classes got the same answer; None if it has none.

    By the shapes and by the part that each term has in the loss, which a step tells that cannot be
    run again as it was.
    """
    trace = case.trace(course.last)
    cost = 0.0
    for call in [] if trace is None else trace.calls:
        plain = call.op in ops.CLASS_LOSSES and not call.outputs[0].ndim
        if plain and 0 in call.gradients and reduction_of(call) == "mean":
            shape = call.inputs[0].shape
            cost += abs(call.gradients[0].mean) * math.log(shape[1 if len(shape) > 1 else 0])
    return cost or None


def _at_margin(case: Case, course: Course) -> float | None:
    """The margin of a ranking that the latest step pays in full, whatever is added to it."""
    trace = case.trace(course.last)
    if trace is None:
        return None
    for call in trace.calls:
        if call.op not in ops.MARGIN_RANKING | ops.TRIPLETS or call.outputs[0].ndim:
            continue
        margin = call.argument(3, "margin", float(call.op in ops.TRIPLETS))  # as PyTorch has it
        paid = float(trace.array(call.outputs[0]))
        if isinstance(margin, (int, float)) and _NEAR * margin <= paid <= margin / _NEAR > 0:
            return float(margin)
    return None


def _standing(case: Case, course: Course) -> Standing | None:
    found = standing_of(case, course)
    # What is there to be learned may be next to nothing; then the curve has to tell.
    return found if found is not None and found.constant > found.floor else None
