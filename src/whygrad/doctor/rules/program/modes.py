"""Training mode and evaluation mode.

Dropout and batch normalisation do one thing in training and another in evaluation.  Which mode a
model was in is known for every call.  What is wrong about it is not the mode but its use: trained
in the mode that was switched on to evaluate, or judged by outputs with units dropped at random.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.progress import is_entangled
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.lines import drops_always
from whygrad.ops.families import DROPOUTS
from whygrad.recording.record import Course, Mark, ModeChange, Parameter

__all__: list[str] = []


@rule(
    thresholds={
        "passes": (3, "of training in evaluation mode: a single one may be meant"),
        "repeats": (4, "calls with the same input: dropout is used to sample"),
    },
    cleared=lambda case: _modes_seen(case),
)
def wrong_mode(case: Case) -> Iterator[Finding]:
    """A model is trained in evaluation mode, or evaluated in training mode.

    After eval(), dropout drops nothing and batch normalisation uses the statistics it has
    stored, which then are no longer updated: trained like that, a model is neither normalised
    nor regularised. Without eval(), what is measured is a model with units dropped at random,
    or normalised by the test batch.

    Measured: The mode of each model at its calls: training passes after an eval() that no
    train() followed; calls in training mode, under no_grad() or not, whose results no training
    pass uses. Or: dropout as a function that is not told the mode, in a model that is evaluated.
    Fix: model.train() before the training loop of each epoch, model.eval() before evaluation.
    Guardrail: assert model.training  # at the top of the training step
    """
    found = _trained_in_eval(case) or _evaluated_in_training(case) or _drops_always(case)
    if found is not None:
        yield found


# --- trained in evaluation mode -------------------------------------------------------------------


def _trained_in_eval(case: Case) -> Finding | None:
    for course in case.courses:
        mark = _last_training_call(case, course)
        if mark is None or len(course.steps) < case.limit("passes"):
            continue
        layers = _affected(mark.module, course.parameters)
        change = _last_change(case, mark, len(case.run.passes) - 1)
        if mark.training or not layers or change is None or change.training:
            continue
        since = sum(1 for each in case.run.passes if each.number >= change.after)
        if since < case.limit("passes"):
            continue
        to_evaluate = change.after > 0 or _evaluates(case, change)
        return wrong_mode.finding(
            f"{since} training passes after eval(), and no train() in between",
            f"{_counted(layers)} in it {_DOES.get(layers[0], 'behave as in evaluation')}",
            where=change.where,
            step=change.after,
            proof=Proof.RECORDED if to_evaluate else Proof.INFERRED,
            places=[("trained here", mark.where)],
            fix="Call model.train() after the evaluation, before the next training pass.",
            remedy="what the mode is good for does not show on a single batch",
        )
    return None


_DOES = {
    "Dropout": "drop nothing",
    "BatchNorm": "use stored statistics and do not update them",
}


def _last_training_call(case: Case, course: Course) -> Mark | None:
    """The latest recorded training call of the model that a course trains."""
    held = {id(each.tensor) for each in course.parameters}
    for snapshot in (course.last, course.bad, course.first):
        for mark in reversed([] if snapshot is None else snapshot.marks):
            used = snapshot is not None and any(
                mark.before <= number < mark.after for number in snapshot.calls
            )
            if mark.depth == 0 and used and held & {id(each) for each in mark.module.parameters()}:
                return mark
    return None


def _affected(module: Any, trained: list[Parameter]) -> list[str]:
    """The layers of a model that depend on the mode, among those that are being trained."""
    held = {id(each.tensor) for each in trained if each.requires_grad}
    found = []
    for each in module.modules():
        kind = type(each).__name__
        if "Dropout" in kind and float(getattr(each, "p", 0.0)) > 0:
            found.append("Dropout")
        elif "BatchNorm" in kind and getattr(each, "track_running_stats", True):
            own = [id(parameter) for parameter in each.parameters()]
            if not own or held & set(own):
                found.append("BatchNorm")
    return sorted(found, reverse=True) if held else []


def _last_change(case: Case, mark: Mark, until: int) -> ModeChange | None:
    """The latest train() or eval(), of a model or what it is a part of, before so many passes."""
    for each in reversed(case.run.modes):
        if each.after <= until and any(part is mark.module for part in each.module.modules()):
            return each
    return None


def _evaluates(case: Case, change: ModeChange) -> bool:
    """Whether the eval() was made to evaluate: the model was called without gradients then."""
    return any(
        mark.passes == change.after and not mark.training for mark in case.run.inference_marks
    )


def _counted(layers: list[str]) -> str:
    counts = Counter(layers)
    return " and ".join(
        f"{count} {kind} layer{'s' * (count > 1)}" for kind, count in counts.items()
    )


# --- evaluated in training mode -------------------------------------------------------------------


def _evaluated_in_training(case: Case) -> Finding | None:
    # What no optimizer holds by mistake is trained as far as the program knows.
    reached = [each for each in case.parameters() if each.reached and each.requires_grad]
    used, training = _with_feeders(case, "used"), _with_feeders(case, "trains")
    feeding = {mark.where for mark in training} | set(case.run.training_lines.values())
    feeding |= {mark.where for mark in case.run.beside if mark.trains}
    used += [mark for mark in case.run.beside if mark.read and not _trained_on(case, mark)]
    for course in case.courses:
        if is_entangled(course, case.courses):
            continue  # what a generator draws is looked at as it is drawn in training
        trained = [*course.parameters, *reached]
        held = {id(each.tensor) for each in trained}
        marks = [
            mark
            for mark in used
            if mark.training
            and mark.passes > 0
            and mark.where not in feeding
            and held & {id(each) for each in mark.module.parameters()}
            and _affected(mark.module, trained)
            and not _on_purpose(case, mark)
        ]
        if not marks:
            continue
        layers = _affected(marks[0].module, trained)
        where = Counter(mark.where for mark in marks).most_common(1)[0][0]
        effects = {"Dropout": "drop units at random", "BatchNorm": "use the test batch's figures"}
        effect = " and ".join(effects[each] for each in dict.fromkeys(layers))
        how = "whose graph no backward() uses" if marks[0].recorded else "under no_grad()"
        found = wrong_mode.finding(
            f"{len(marks)} calls {how} in training mode, with results that no training pass uses",
            f"{_counted(layers)} in it {effect}",
            where=where,
            step=marks[0].passes,
            proof=Proof.INFERRED,
            fix="Call model.eval() before evaluating, and model.train() before training goes on.",
            remedy="it concerns how the model is judged, not how it is trained",
        )
        found.severity = 1  # what is learned is not touched: a cause that does touch it comes first
        return found
    return None


def _drops_always(case: Case) -> Finding | None:
    """Dropout that does not ask for the mode, in a model that is evaluated after eval()."""
    for course in case.courses:
        held = {id(each.tensor) for each in course.parameters}
        marks = [
            mark
            for mark in (*case.run.inference_marks, *case.run.beside)
            if not mark.training
            and (mark.used or mark.read)
            and held & {id(each) for each in mark.module.parameters()}
            and not _samples(case, mark)
        ]
        calls = course.last.calls.values() if course.last is not None and marks else ()
        lines = [each.where for each in calls if each.op in DROPOUTS and drops_always(each.where)]
        if lines:
            found = wrong_mode.finding(
                "this dropout is not told whether the model is in training: it drops units after "
                "eval() as well",
                f"{len(marks)} calls in evaluation mode were judged by what it left",
                where=lines[0],
                step=marks[0].passes,
                proof=Proof.INFERRED,
                places=[("evaluated here", marks[0].where)],
                fix="Tell it the mode: F.dropout(x, p, training=self.training), or make an "
                "nn.Dropout in __init__.",
                remedy="it concerns how the model is judged, not how it is trained",
                title="Dropout goes on in evaluation",
            )
            found.severity = 1  # as above
            return found
    return None


def _trained_on(case: Case, mark: Mark) -> bool:
    """Whether a line gives the model what it was trained on: its progress in training, as it is."""
    lines = set(case.run.training_lines.values())
    fed = [each for each in case.run.fed.values() if each.module is mark.module]
    trained = {row for each in fed if each.where in lines for row in each.rows}
    given = {row for each in fed if each.where == mark.where for row in each.rows}
    return bool(given) and given <= trained


def _with_feeders(case: Case, kind: str) -> list[Mark]:
    """The calls without gradients of this kind, and those that computed what they were given."""
    found: dict[int, Mark] = {}
    for each in case.run.inference_marks:
        mark: Mark | None = each if getattr(each, kind) else None
        while mark is not None and id(mark) not in found:
            found[id(mark)] = mark
            mark = mark.fed_by
    return sorted(found.values(), key=lambda mark: mark.passes)


def _on_purpose(case: Case, mark: Mark) -> bool:
    """train() was called for it, or it is asked again and again about the same input."""
    change = _last_change(case, mark, mark.passes)
    called_for = change is not None and change.training and change.after == mark.passes
    return called_for or _samples(case, mark)


def _samples(case: Case, mark: Mark) -> bool:
    """Whether the model is asked again and again about the same input."""
    same = [
        each
        for each in (*case.run.inference_marks, *case.run.beside)
        if each.where == mark.where and each.passes == mark.passes and each.given == mark.given
    ]
    return len(same) >= case.limit("repeats")


def _modes_seen(case: Case) -> str | None:
    marks = case.run.inference_marks
    if not marks or not case.courses or any(mark.training for mark in marks):
        return None
    amount = "the evaluation was" if len(marks) == 1 else f"all {len(marks)} evaluations were"
    return f"{amount} made in eval mode"
