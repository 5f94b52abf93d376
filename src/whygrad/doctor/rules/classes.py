"""Classes so rare that the model never answers them.

The trained model is asked once more about samples of the training data, batch by batch as it was
trained, and its answers are counted class by class.  That it never answers a class may have other
causes: nothing tells the class from others, or the run was short.  So the model is trained anew
with the rare samples drawn as often as the others, and asked about samples it was not shown; and
the trained one goes on as it was, to see whether it had only needed more time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from whygrad.doctor.case import Case
from whygrad.doctor.experiments import tensor_like
from whygrad.doctor.provenance import Rows, given_inputs, rows_of, target_source
from whygrad.doctor.reading import Reading
from whygrad.doctor.record import Course, Snapshot
from whygrad.doctor.rehearsal import rehearsal
from whygrad.doctor.replay import Traced, replay
from whygrad.doctor.rule import Finding, rule
from whygrad.doctor.tape import Call, Produced

__all__ = ["class_imbalance"]

_CLASSES = ("cross_entropy", "nll_loss")
_BINARY = ("binary_cross_entropy", "binary_cross_entropy_with_logits")
_ASKED = 40  # batches
_PARTS = 4  # of the samples: one is asked about, the others are shown

Array = np.ndarray[Any, Any]
Places = list[tuple[int, int | str]]  # numbers of calls, and which of their arguments


@dataclass(eq=False)
class _Data:
    """Training samples, and where a batch of them goes into the recipe of a step."""

    reading: Reading
    recipe: Snapshot
    inputs: Array
    targets: Array
    classes: Array
    input_places: Places
    target_places: Places

    @property
    def size(self) -> int:
        """Of a batch."""
        return int(self.reading.target.shape[0])

    def batch(self, rows: Array) -> dict[int, dict[int | str, Any]]:
        """What to put into the recipe for the step to be about these rows."""
        trace = self.reading.trace
        target = trace.array(self.reading.target)
        wanted = self.targets[rows].reshape(target.shape).astype(target.dtype)
        instead: dict[int, dict[int | str, Any]] = {}
        for places, array in (
            (self.input_places, self.inputs[rows]),
            (self.target_places, wanted),
        ):
            tensor = tensor_like(trace.engine, array)
            for number, place in places:
                instead.setdefault(number, {})[place] = tensor
        return instead


@dataclass(eq=False)
class _Answers:
    """Labels of samples, and what a model says about them."""

    labels: Array
    said: Array
    common: int

    @property
    def rare(self) -> Any:
        return self.labels != self.common

    @property
    def always(self) -> float:
        """How often it says the common class."""
        return float((self.said == self.common).mean())

    @property
    def recall(self) -> float:
        rare = self.rare
        return float((self.said[rare] == self.labels[rare]).mean()) if rare.any() else 1.0

    @property
    def found(self) -> float:
        """The share of the rare samples that it does not take for common ones."""
        return float((self.said[self.rare] != self.common).mean())

    @property
    def alarms(self) -> float:
        """The share of the common samples that it takes for rare ones."""
        return float((self.said[~self.rare] != self.common).mean())

    @property
    def tells_apart(self) -> float:
        """How far it is from guessing, in standard errors."""
        rare = int(self.rare.sum())
        found = _share(self.found, rare)
        alarms = _share(self.alarms, len(self.labels) - rare)
        return (self.found - self.alarms) / math.sqrt(found + alarms)


def _share(part: float, count: int) -> float:
    """The squared standard error of a share, not zero for a few samples that agree."""
    part = (part * count + 1) / (count + 2)
    return part * (1 - part) / count


@rule(
    id="class-imbalance",
    severity=2,
    title="One class is so common that the model answers nothing else",
    meaning=(
        "Nearly all samples belong to one class, so always answering that class is right nearly "
        "always, and the loss has little to say about the rest. Accuracy looks good; the cases "
        "that matter are all missed."
    ),
    measured=(
        "The share of the most common label, and the answers of the trained model to samples of "
        "the training data: the rare ones are never recognised, and further steps change nothing. "
        "The same model, trained anew with rare samples drawn as often as the others, finds such "
        "samples among those it was not shown."
    ),
    fix="Weigh the rare class in the loss, or draw it more often.",
    guardrail="print(recall per class), not the accuracy alone",
    explains=("constant-output", "loss-plateau", "under-trained", "overfitting", "lr-too-low"),
    thresholds={
        "share": 0.85, "always": 0.99, "recall": 0.1, "rare": 3, "steps": 20, "rounds": 5,
        "trained": 100, "patience": 300, "hidden": 20, "errors": 3.0,
    },
    cleared=lambda case: _shares(case),
)  # fmt: skip
def class_imbalance(case: Case) -> Iterator[Finding]:
    for course in case.courses:
        reading = case.reading(course.first)
        if reading is None or len(course.steps) < case.limit("steps") or case.went_bad is not None:
            continue
        call = reading.loss_call
        if call is None or call.op not in (*_CLASSES, *_BINARY) or not reading.trace.exact:
            continue
        data = None if _weighs(reading, call) else _data(case, course, reading)
        if data is None or _share_of_common(_drawn(case, course)) < case.limit("share"):
            continue
        if len(course.steps) * data.size < case.limit("rounds") * len(data.classes):
            continue  # a model that has seen each sample a few times may not be done with them
        share = _share_of_common(data.classes)
        answers = _ask(case, data, _leaves(data), _some(data))
        if (
            answers is None
            or not case.limit("share") <= share < 1
            or answers.rare.sum() < case.limit("rare")
            or answers.recall > case.limit("recall")
            or answers.always < case.limit("always")
        ):
            continue
        if not case.budget.allows(data.recipe, _PARTS * _steps(case, course) + 400):
            continue
        balanced = _trained_anew(case, course, data)
        if balanced is None or balanced.tells_apart < case.limit("errors"):
            continue
        if _comes_with_time(case, course, data):
            continue
        hides = _can_hide(case, data)
        those = "those that it was not shown" if hides else "them"
        yield class_imbalance.finding(
            where=call.where,
            step=0,
            confidence=0.9 if hides else 0.7,
            evidence=[
                f"{share:.1%} of {len(data.classes)} labels are class {answers.common:g}",
                f"the trained model answers class {answers.common:g} to {answers.always:.1%} of "
                f"{len(answers.said)} training samples",
                f"of {int(answers.rare.sum())} samples of other classes it recognises "
                f"{answers.recall:.0%}",
                f"trained anew for {_steps(case, course)} steps with these drawn as often as the "
                f"others, it finds {balanced.found:.0%} of {those} "
                f"(false alarms: {balanced.alarms:.0%})",
            ],
            fix=_fix(call.op, share / (1 - share)),
        )
        return


def _fix(op: str, factor: float) -> str:
    sampler = (
        "or draw rare samples more often: DataLoader(..., sampler=WeightedRandomSampler(...))."
    )
    if op in _BINARY:
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
    return root is None or root.op not in ("mean", "sum") or not direct


def _drawn(case: Case, course: Course) -> Array:
    """The classes in the batches at hand: a sampler may have drawn rare ones more often."""
    found = []
    for snapshot in (course.first, course.earlier, course.last):
        each = case.reading(snapshot)
        if each is not None and each.target is not None and each.loss_call is not None:
            found.append(_as_classes(each.trace.array(each.target), each.loss_call.op))
    return np.concatenate(found) if found else np.empty(0, np.int64)


def _share_of_common(classes: Array) -> float:
    _, counts = np.unique(classes, return_counts=True)
    return float(counts.max() / counts.sum()) if counts.size else 0.0


def _data(case: Case, course: Course, reading: Reading) -> _Data | None:
    """The whole training set, if the first batch can be followed back to it, or a few batches."""
    given = list(given_inputs(reading))
    call = reading.loss_call
    if len(given) != 1 or call is None or reading.target is None or not reading.target.ndim:
        return None
    source, tensor = given[0]
    begin = min((mark.before for mark in reading.models), default=0)
    users = [
        place
        for each in reading.trace.calls
        if each.number >= begin
        for place in _places(each, tensor)
    ]
    targets = _places(call, reading.target)
    whole = _whole_set(reading, source, tensor)
    if whole is None or len(whole[0]) == len(reading.target):
        whole = _batches(case, course, tensor)
    if whole is None or not users or not targets:
        return None
    classes = _as_classes(whole[1], call.op)
    if len(classes) != len(whole[0]):  # several answers for each sample
        return None
    return _Data(reading, _recipe(reading, {*users, *targets}), *whole, classes, users, targets)


def _recipe(reading: Reading, given: set[tuple[int, int | str]]) -> Snapshot:
    """The step without the making of its batch, which a data loader takes hundreds of calls for."""
    whole = reading.trace.snapshot
    calls: dict[int, Call] = {}
    waiting = [] if whole.loss is None else [whole.loss.call]
    traced = {each.number: each for each in reading.trace.calls}
    while waiting:
        number = waiting.pop()
        if number in whole.calls and number not in calls:
            calls[number] = call = copy(whole.calls[number])
            again = traced[number]
            call.args = tuple(
                again.args[place] if (number, place) in given else each
                for place, each in enumerate(call.args)
            )
            call.kwargs = {
                name: again.kwargs[name] if (number, name) in given else each
                for name, each in call.kwargs.items()
            }
            waiting += _makers((call.args, call.kwargs))
    short = replace(whole, calls=dict(sorted(calls.items())))
    # What was written in place may be missing now: the loss would not be the same.
    return short if replay(short, backward=False, look=False).exact else whole


def _makers(value: Any) -> Iterator[int]:
    """The numbers of the calls that made what is in some arguments."""
    if type(value) is Produced:
        yield value.call
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _makers(each)
    elif isinstance(value, dict):
        yield from _makers(list(value.values()))


def _places(call: Traced, tensor: Any) -> Places:
    arguments: list[tuple[int | str, Any]] = [*enumerate(call.args), *call.kwargs.items()]
    return [(call.number, place) for place, each in arguments if each is tensor]


def _whole_set(
    reading: Reading, source: Produced | None, tensor: Any
) -> tuple[Array, Array] | None:
    trace = reading.trace
    rows = rows_of(trace, source, tensor)
    answers = rows_of(trace, target_source(reading), reading.target)
    if rows is None or answers is None or rows.length != answers.length:
        return None
    if not np.array_equal(rows.index, answers.index):
        return None
    inputs = _as_in_batch(reading, rows, source, tensor)
    targets = _as_in_batch(reading, answers, target_source(reading), reading.target)
    return None if inputs is None or targets is None else (inputs, targets)


def _as_in_batch(
    reading: Reading, rows: Rows, source: Produced | None, tensor: Any
) -> Array | None:
    """All rows as the batch has them: features that were scaled, labels that were computed.

    Rows are followed back to the data that all began with, through what was computed from them.
    """
    trace = reading.trace
    batch, made = trace.array(tensor), trace.made_by(source)
    before = set() if made is None else {made.number} | trace.ancestors(made)
    known = [
        each
        for call in reversed(trace.calls)
        if call.number in before
        for each in (*call.outputs, *call.inputs)
        if isinstance(each, trace.engine.tensor)
    ]
    for each in (*known, rows.whole):
        if getattr(each, "ndim", 0) and int(each.shape[0]) == rows.length:
            whole = trace.array(each)
            taken = whole[rows.index]
            if taken.size == batch.size and np.array_equal(taken.reshape(batch.shape), batch):
                return whole.reshape(rows.length, *batch.shape[1:])
    return None


def _batches(case: Case, course: Course, tensor: Any) -> tuple[Array, Array] | None:
    """The batches at hand, one after the other."""
    inputs: list[Array] = []
    targets: list[Array] = []
    for snapshot in (course.first, course.earlier, course.last):
        each = case.reading(snapshot)
        given = [] if each is None else list(given_inputs(each))
        if each is None or each.target is None or len(given) != 1:
            continue
        batch = each.trace.array(given[0][1])
        known = any(np.array_equal(batch, other) for other in inputs)
        if not known and batch.shape[1:] == tuple(tensor.shape[1:]):
            inputs.append(batch)
            targets.append(each.trace.array(each.target))
    if len({each.shape[1:] for each in targets}) != 1:
        return None
    return np.concatenate(inputs), np.concatenate(targets)


def _leaves(data: _Data) -> Mapping[int, Any]:
    """The parameters as they are now."""
    return data.recipe.leaves


def _some(data: _Data) -> Array:
    """As many samples as fit in some batches, in any order."""
    return np.random.default_rng(0).permutation(len(data.classes))[: _ASKED * data.size]


def _common(data: _Data) -> int:
    names, counts = np.unique(data.classes, return_counts=True)
    return int(names[counts.argmax()])


def _ask(case: Case, data: _Data, values: Mapping[int, Any], rows: Array) -> _Answers | None:
    """What the model with these values says about some rows."""
    call = data.reading.loss_call
    assert call is not None
    said: list[Array] = []
    for start in range(0, len(rows), data.size):
        chosen = np.resize(rows[start:], data.size)  # the last batch is filled with its own rows
        batch = data.batch(chosen)
        trace = case.budget.replay(data.recipe, values=values, instead=batch, backward=False)
        again = next((each for each in trace.calls if each.number == call.number), None)
        if again is None or trace.error is not None or not again.args:
            return None
        answer = _classes_of(trace.array(again.args[0]), call.op)
        if answer is None or answer.shape != chosen.shape:
            return None
        said.append(answer)
    if not said:
        return None
    return _Answers(data.classes[rows], np.concatenate(said)[: len(rows)], _common(data))


def _classes_of(scores: Array, op: str) -> Array | None:
    if op in _CLASSES:
        return scores.argmax(axis=1).ravel() if scores.ndim > 1 else None
    limit = 0.0 if op == "binary_cross_entropy_with_logits" else 0.5
    return (scores > limit).astype(np.int64).ravel() if scores.size == len(scores) else None


def _trained_anew(case: Case, course: Course, data: _Data) -> _Answers | None:
    """Trained with balanced batches of some samples, asked about the others; each has its turn."""
    random = np.random.default_rng(1)
    rare = random.permutation(np.flatnonzero(data.classes != _common(data)))
    others = random.permutation(np.flatnonzero(data.classes == _common(data)))
    parts: list[_Answers] = []
    for shown, hidden in _splits(case, data):
        groups = [each[np.isin(np.arange(len(each)) % _PARTS, shown)] for each in (rare, others)]
        asked = [each[np.isin(np.arange(len(each)) % _PARTS, hidden)] for each in (rare, others)]
        values = _train(case, course, data, data.recipe.values, _steps(case, course), *groups)
        rows = np.concatenate(asked)[: _ASKED * data.size]
        answers = None if values is None else _ask(case, data, values, rows)
        if answers is None:
            return None
        parts.append(answers)
    return _Answers(
        np.concatenate([each.labels for each in parts]),
        np.concatenate([each.said for each in parts]),
        parts[0].common,
    )


def _splits(case: Case, data: _Data) -> list[tuple[Array, Array]]:
    """Which samples to show, and which to ask about, as remainders of their numbers."""
    parts = np.arange(_PARTS)
    if not _can_hide(case, data):
        return [(parts, parts)]
    return [(parts[parts != each], parts[parts == each]) for each in parts]


def _can_hide(case: Case, data: _Data) -> bool:
    """Whether there are enough samples of each class to keep some back."""
    _, counts = np.unique(data.classes, return_counts=True)
    return int(counts.min()) >= case.limit("hidden")


def _comes_with_time(case: Case, course: Course, data: _Data) -> bool:
    """Whether the model finds rare samples if the run goes on as it was, for half as long again."""
    rows = np.arange(len(data.classes))
    steps = min(len(course.steps) // 2, int(case.limit("patience")))
    values = _train(case, course, data, _leaves(data), steps, rows)
    answers = None if values is None else _ask(case, data, values, _some(data))
    return answers is None or answers.recall > case.limit("recall")


def _steps(case: Case, course: Course) -> int:
    return min(len(course.steps), int(case.limit("trained")))


def _train(
    case: Case, course: Course, data: _Data, start: Mapping[int, Any], steps: int, *groups: Array
) -> dict[int, Any] | None:
    """The parameters after some steps on batches with equal parts of each group of rows."""
    snapshot = data.recipe
    engine = snapshot.engine
    weights = {
        name: engine.copy(start.get(name, value)).requires_grad_()
        for name, value in snapshot.values.items()
    }
    optimizer = rehearsal(engine, course, weights, 1.0, {})
    if optimizer is None or not case.budget.allows(snapshot, steps):
        return None
    random = np.random.default_rng(2)
    for _ in range(steps):
        parts = np.array_split(np.arange(data.size), len(groups))
        rows = [random.choice(group, len(part)) for group, part in zip(groups, parts)]
        batch = data.batch(np.concatenate(rows))
        trace = case.budget.replay(snapshot, values=weights, instead=batch)
        if trace.error is not None or not math.isfinite(trace.loss):
            return None
        with engine.unwatched():
            for name, weight in weights.items():
                gradient = trace.gradients.get(name)
                weight.grad = None if gradient is None else tensor_like(engine, gradient)
            optimizer.step()
    return weights


def _as_classes(target: Array, op: str) -> Array:
    if op in _CLASSES and target.dtype.kind == "f" and target.ndim > 1:
        return target.argmax(axis=1).ravel()  # a probability for each class
    return np.round(target).astype(np.int64).ravel()


def _shares(case: Case) -> str | None:
    course = case.courses[0] if case.courses else None
    reading = None if course is None else case.reading(course.first)
    call = None if reading is None else reading.loss_call
    if course is None or call is None or call.op not in (*_CLASSES, *_BINARY):
        return None
    classes = _drawn(case, course)
    if not classes.size:
        return None
    return (
        f"the most common class makes up {_share_of_common(classes):.0%} of {classes.size} labels"
    )
