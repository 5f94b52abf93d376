"""Classes so rare that the model never answers them.

The trained model is asked once more about samples of the training data, batch by batch as it was
trained, and its answers are counted class by class.  That it never answers a class may have other
causes: nothing tells the class from others, or the run was short.  So the model is trained anew
with the rare samples drawn as often as the others, and asked about samples it was not shown; and
the trained one goes on as it was, to see whether it had only needed more time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.experiments.answers import ASKED, Answers, ask, train
from whygrad.doctor.experiments.remedies import SHOWN
from whygrad.doctor.experiments.samples import Samples, as_classes, samples_of
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.ops.families import BINARY_LOSSES, CLASS_LOSSES, TOTALS
from whygrad.recording.ranges import Array
from whygrad.recording.record import Course
from whygrad.recording.replay import Traced
from whygrad.recording.replay.reading import Reading

__all__ = ["class_imbalance"]


@rule(
    thresholds={
        "share": (0.85, "of the labels in one class"),
        "always": (0.99, "of the answers are that class"),
        "recall": (0.1, "of the rare samples that are recognised at most"),
        "rare": (3, "samples of other classes at least"),
        "steps": (20, "updates: fewer do not show what it answers"),
        "rounds": (5, "times that each sample was seen"),
        "trained": (100, "steps of the experiment with balanced batches"),
        "patience": (300, "further steps as it was: it may only need time"),
        "hidden": (20, "samples of each class: else none can be kept back"),
        "errors": (3.0, "standard errors between hits and false alarms"),
        "parts": (4, "of the samples: one is asked about, the others are shown"),
        "spare": (400, "steps of the budget beyond those of the experiment"),
    },
    cleared=lambda case: _shares(case),
)
def class_imbalance(case: Case, course: Course) -> Iterator[Finding]:
    """One class is so common that the model answers nothing else.

    Nearly all samples belong to one class, so always answering that class is right nearly
    always, and the loss has little to say about the rest. Accuracy looks good; the cases that
    matter are all missed.

    Measured: The share of the most common label, and the answers of the trained model to
    samples of the training data: the rare ones are never recognised, and further steps change
    nothing. The same model, trained anew with rare samples drawn as often as the others, finds
    such samples among those it was not shown.
    Fix: Weigh the rare class in the loss, or draw it more often.
    Guardrail: print(recall per class), not the accuracy alone
    """
    reading = case.reading(course.first)
    if reading is None or len(course.steps) < case.limit("steps") or case.went_bad is not None:
        return
    call = reading.loss_call
    if call is None or call.op not in CLASS_LOSSES | BINARY_LOSSES or not reading.trace.reproduced:
        return
    data = None if _weighs(reading, call) else samples_of(case, course, reading)
    if data is None or _share_of_common(_drawn(case, course)) < case.limit("share"):
        return
    if len(course.steps) * data.size < case.limit("rounds") * len(data.classes):
        return  # a model that has seen each sample a few times may not be done with them
    share = _share_of_common(data.classes)
    answers = ask(case, data, data.recipe.leaves, _some(data))
    if (
        answers is None
        or not case.limit("share") <= share < 1
        or answers.rare.sum() < case.limit("rare")
        or answers.recall > case.limit("recall")
        or answers.always < case.limit("always")
    ):
        return
    if not case.budget.allows(
        data.recipe, int(case.limit("parts")) * _steps(case, course) + int(case.limit("spare"))
    ):
        return
    balanced = _trained_anew(case, course, data)
    if balanced is None or balanced.tells_apart < case.limit("errors"):
        return
    if _comes_with_time(case, course, data):
        return
    hides = _can_hide(case, data)
    those = "those that it was not shown" if hides else "them"
    yield class_imbalance.finding(
        f"{share:.1%} of {len(data.classes)} labels are class {answers.common:g}",
        f"the trained model answers class {answers.common:g} to {answers.always:.1%} of "
        f"{len(answers.said)} training samples",
        f"of {int(answers.rare.sum())} samples of other classes it recognises {answers.recall:.0%}",
        f"trained anew for {_steps(case, course)} steps with these drawn as often as the "
        f"others, it finds {balanced.found:.0%} of {those} "
        f"(false alarms: {balanced.alarms:.0%})",
        where=call.where,
        proof=Proof.TRIED if hides else Proof.INFERRED,
        fix=_fix(call.op, share / (1 - share)),
        remedy=SHOWN,
    )


def _fix(op: str, factor: float) -> str:
    sampler = (
        "or draw rare samples more often: DataLoader(..., sampler=WeightedRandomSampler(...))."
    )
    if op in BINARY_LOSSES:
        return f"nn.BCEWithLogitsLoss(pos_weight=torch.tensor({factor:.3g})),\n{sampler}"
    return f"nn.CrossEntropyLoss(weight=1 / class_counts), normalised,\n{sampler}"


def _weighs(reading: Reading, call: Traced) -> bool:
    """Whether the loss does not count all samples alike: by an argument, or by hand."""
    if call.kwargs.get("weight") is not None or call.kwargs.get("pos_weight") is not None:
        return True
    if reading.reduction != "none":
        return False
    root = reading.trace.root
    direct = root is not None and any(
        each is not None and each.call == call.number for each in root.sources
    )
    return root is None or root.op not in TOTALS or not direct


def _drawn(case: Case, course: Course) -> Array:
    """The classes in the batches at hand: a sampler may have drawn rare ones more often."""
    found = []
    for snapshot in (course.first, course.earlier, course.last):
        each = case.reading(snapshot)
        if each is not None and each.target is not None and each.loss_call is not None:
            found.append(as_classes(each.trace.array(each.target), each.loss_call.op))
    return np.concatenate(found) if found else np.empty(0, np.int64)


def _share_of_common(classes: Array) -> float:
    _, counts = np.unique(classes, return_counts=True)
    return float(counts.max() / counts.sum()) if counts.size else 0.0


def _some(data: Samples) -> Array:
    """As many samples as fit in some batches, in any order."""
    return np.random.default_rng(0).permutation(len(data.classes))[: ASKED * data.size]


def _trained_anew(case: Case, course: Course, data: Samples) -> Answers | None:
    """Trained with balanced batches of some samples, asked about the others; each has its turn."""
    random = np.random.default_rng(1)
    rare = random.permutation(np.flatnonzero(data.classes != data.common))
    others = random.permutation(np.flatnonzero(data.classes == data.common))
    parts: list[Answers] = []
    count = int(case.limit("parts"))
    for shown, hidden in _splits(case, data):
        groups = [each[np.isin(np.arange(len(each)) % count, shown)] for each in (rare, others)]
        asked = [each[np.isin(np.arange(len(each)) % count, hidden)] for each in (rare, others)]
        values = train(case, course, data, data.recipe.values, _steps(case, course), *groups)
        rows = np.concatenate(asked)[: ASKED * data.size]
        answers = None if values is None else ask(case, data, values, rows)
        if answers is None:
            return None
        parts.append(answers)
    return Answers(
        np.concatenate([each.labels for each in parts]),
        np.concatenate([each.said for each in parts]),
        parts[0].common,
    )


def _splits(case: Case, data: Samples) -> list[tuple[Array, Array]]:
    """Which samples to show, and which to ask about, as remainders of their numbers."""
    parts = np.arange(int(case.limit("parts")))
    if not _can_hide(case, data):
        return [(parts, parts)]
    return [(parts[parts != each], parts[parts == each]) for each in parts]


def _can_hide(case: Case, data: Samples) -> bool:
    """Whether there are enough samples of each class to keep some back."""
    _, counts = np.unique(data.classes, return_counts=True)
    return int(counts.min()) >= case.limit("hidden")


def _comes_with_time(case: Case, course: Course, data: Samples) -> bool:
    """Whether the model finds rare samples if the run goes on as it was, for half as long again."""
    rows = np.arange(len(data.classes))
    steps = min(len(course.steps) // 2, int(case.limit("patience")))
    values = train(case, course, data, data.recipe.leaves, steps, rows)
    answers = None if values is None else ask(case, data, values, _some(data))
    return answers is None or answers.recall > case.limit("recall")


def _steps(case: Case, course: Course) -> int:
    return min(len(course.steps), int(case.limit("trained")))


def _shares(case: Case) -> str | None:
    course = case.courses[0] if case.courses else None
    reading = None if course is None else case.reading(course.first)
    call = None if reading is None else reading.loss_call
    if course is None or call is None or call.op not in CLASS_LOSSES | BINARY_LOSSES:
        return None
    classes = _drawn(case, course)
    if not classes.size or _share_of_common(classes) >= case.limit("share"):
        return None
    return (
        f"the most common class makes up {_share_of_common(classes):.0%} of {classes.size} labels"
    )
