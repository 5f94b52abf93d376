"""Answers that a figure cannot be taken of as they are: no classes, no scores, the wrong end."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.data.left_out import left_out
from whygrad.doctor.rules.rule import Finding, Proof
from whygrad.doctor.source.judging.flow import Flow
from whygrad.doctor.source.masks import counts_all
from whygrad.doctor.source.reader import called, walked
from whygrad.ops import families as ops
from whygrad.recording.judging.looks import Judged

__all__ = ["FORMS"]

_Tell = Callable[..., Finding]

_ANSWERS = re.compile(r"pred|hat|out|prob|score|logit|answer", re.IGNORECASE)
_LABELS = re.compile(r"true|test|label|target|truth|actual|gold|^y$|^y_(?!p|h)|val", re.IGNORECASE)
_DECIDING = ("argmax", "round", "rint", "astype", "int", "long", "topk")

# Metrics that change when answers and labels change places.
_ONE_WAY = {
    "explained_variance_score": "the spread of the labels is what it divides by",
    "mean_absolute_percentage_error": "the labels are what it divides by",
    "precision_recall_fscore_support": "precision and recall change places",
    "classification_report": "precision and recall change places, and the support is that of the "
    "answers",
    "precision_score": "it is the recall",
    "r2_score": "the spread of the labels is what it divides by",
    "recall_score": "it is the precision",
}


def _column(case: Case, looks: list[Judged], flow: Flow | None, tell: _Tell) -> Finding | None:
    """A column beside a row: every answer meets every label."""
    look = looks[-1]
    if look.kind not in ("equal", "difference") or len(look.sides) != 2:
        return None
    shapes = [each.range.shape for each in look.sides]
    count = look.sides[0].range.size
    if sorted(shapes, key=len) != [(count,), (count, 1)] or flow is None:
        return None
    if not any(flow.of_model(each) for each in flow.sides):
        return None
    column = look.sides[[len(each) for each in shapes].index(2)].text
    return tell(
        f"{look.sides[0].text} {list(shapes[0])} against {look.sides[1].text} {list(shapes[1])} "
        f"make [{count}, {count}]: every answer meets every label",
        f"the mean is over {count * count} pairs, of which {count} belong together",
        where=look.where,
        step=looks[0].after,
        proof=Proof.RECORDED,
        fix=f"Give both the same shape: {column}.ravel().",
    )


def _unrounded(case: Case, looks: list[Judged], flow: Flow | None, tell: _Tell) -> Finding | None:
    """Outputs that are asked to equal whole numbers."""
    look = looks[-1]
    if look.kind not in ("equal", "pairs") or look.pair is None or flow is None:
        return None
    from_model = [flow.of_model(each) for each in flow.sides]
    if sorted(from_model) != [False, True] or look.sides[0].range.size < case.limit("answers"):
        return None
    answers, labels = (look.sides[from_model.index(each)] for each in (True, False))
    if look.kind == "pairs" and not _asks_equality(look):
        return None
    if answers.whole > case.limit("broken") or labels.whole < 1:
        return None
    if look.pair.agreed > case.limit("never"):
        return None
    return tell(
        f"{answers.text} is {answers.range.low:.3g} to {answers.range.high:.3g}, "
        f"{1 - answers.whole:.0%} of it no whole numbers, and is asked to equal {labels.text} of "
        f"{labels.range.low:g} to {labels.range.high:g}",
        f"{look.pair.agreed:.1%} of {answers.range.size} do",
        where=flow.where,
        step=looks[0].after,
        proof=Proof.RECORDED,
        fix="Decide first: the class with the largest output, or on which side of the threshold.",
    )


def _asks_equality(look: Judged) -> bool:
    return "==" in look.where.text


def _threshold(case: Case, looks: list[Judged], flow: Flow | None, tell: _Tell) -> Finding | None:
    """Logits that are compared with one half."""
    look = looks[-1]
    if look.kind != "threshold" or look.number != case.limit("half") or flow is None:
        return None
    if look.sides[0].outside < case.limit("logits") or not flow.of_model(flow.sides[0]):
        return None
    readings = [case.reading(course.last) for course in case.courses[:2]]
    losses = {each.op for reading in readings if reading is not None for each in reading.losses}
    if not any(each in ops.BINARY_WITH_LOGITS for each in losses):
        return None
    ranges = look.sides[0].range
    return tell(
        f"{look.sides[0].text}, logits from {ranges.low:.3g} to {ranges.high:.3g}, is compared "
        "with 0.5, the threshold of probabilities: as one that is 0.62",
        where=flow.where,
        step=looks[0].after,
        proof=Proof.INFERRED,
        fix="Compare logits with 0, or 1 / (1 + np.exp(-logits)) with 0.5.",
    )


def _decided(case: Case, looks: list[Judged], flow: Flow | None, tell: _Tell) -> Finding | None:
    """A ranking by what was decided before: there are two ranks."""
    look = looks[-1]
    if look.kind != "ranks" or look.pair is None or look.pair.auc is None or flow is None:
        return None
    scores = look.sides[1]
    if scores.different > 2 or scores.range.size < case.limit("answers"):
        return None
    decides = any(_decides(each) for each in flow.ways(flow.sides[1]))
    if not decides or not flow.of_model(flow.sides[1]) or flow.of_model(flow.sides[0]):
        return None
    return tell(
        f"{look.name} is given {scores.text}, which is {scores.range.low:g} or "
        f"{scores.range.high:g}: what was decided, not what it was decided by",
        "the curve has one corner, and its area is the mean of two rates at one threshold",
        where=flow.where,
        step=looks[0].after,
        proof=Proof.INFERRED,
        fix=f"Give {look.name} the probabilities or logits of class 1, before argmax or threshold.",
    )


def _decides(node: ast.expr) -> bool:
    return any(called(each) in _DECIDING for each in walked(node, ast.Call)) or any(
        isinstance(each.ops[0], (ast.Gt, ast.GtE, ast.Lt, ast.LtE))
        for each in walked(node, ast.Compare)
    )


def _wrong_end(case: Case, looks: list[Judged], flow: Flow | None, tell: _Tell) -> Finding | None:
    """Scores that are high for the other class."""
    look = looks[-1]
    if look.kind != "ranks" or look.pair is None or look.pair.auc is None or flow is None:
        return None
    if look.pair.auc > case.limit("upside") or look.sides[0].range.size < case.limit("answers"):
        return None
    if not flow.of_model(flow.sides[1]):
        return None
    turned = next((each for each in flow.ways(flow.sides[1]) if _is_turned(each)), None)
    if turned is None:
        return None
    return tell(
        f"{look.name} ranks by {look.sides[1].text}, and a sample of the larger label has the "
        f"larger score in {look.pair.auc:.1%} of all pairs: far less than half",
        f"it is the score of the other class: {ast.unparse(turned)}",
        where=flow.where,
        step=looks[0].after,
        proof=Proof.INFERRED,
        fix="Rank by the score of the class that is labelled 1, as probs[:, 1].",
    )


def _is_turned(node: ast.expr) -> bool:
    """``probs[:, 0]``, ``1 - p``, ``-score``"""
    for each in ast.walk(node):
        match each:
            case ast.Subscript(slice=ast.Tuple(elts=[*_, ast.Constant(value=0)])):
                return True
            case ast.BinOp(left=ast.Constant(value=1 | 1.0), op=ast.Sub()):
                return True
            case ast.UnaryOp(op=ast.USub(), operand=ast.Name() | ast.Call() | ast.Attribute()):
                return True
    return False


def _swapped(case: Case, looks: list[Judged], flow: Flow | None, tell: _Tell) -> Finding | None:
    """Answers where labels belong, in a metric that tells them apart."""
    look = looks[-1]
    why = _ONE_WAY.get(look.name)
    if why is None or look.pair is None or flow is None or look.pair.error == 0:
        return None
    first, second = (each.text for each in look.sides)
    if [flow.of_model(each) for each in flow.sides] != [True, False]:
        return None
    if not _ANSWERS.search(first) or not _LABELS.search(second) or _ANSWERS.search(second):
        return None
    return tell(
        f"{look.name} takes the labels first: here {first}, which comes from the model, is taken "
        f"for them, and {second} for the answers",
        f"for this metric that matters: {why}",
        where=flow.where,
        step=looks[0].after,
        proof=Proof.INFERRED,
        fix=f"{look.name}({second}, {first})",
    )


def _ignored(case: Case, looks: list[Judged], flow: Flow | None, tell: _Tell) -> Finding | None:
    """Positions that the loss leaves out, counted as answers."""
    look = looks[-1]
    if look.kind != "equal" or look.pair is None or flow is None:
        return None
    from_model = [flow.of_model(each) for each in flow.sides]
    if sorted(from_model) != [False, True] or not counts_all(look.where, flow.scope):
        return None
    labels = look.sides[from_model.index(False)]
    readings = [case.reading(course.last) for course in case.courses[:1]]
    calls = [each for reading in readings if reading is not None for each in reading.losses]
    ignored = {each.kwargs.get("ignore_index") for each in calls if each.op in ops.CLASS_LOSSES}
    number = ignored.pop() if len(ignored) == 1 else None
    share = 0.0 if number is None else labels.shares.get(float(number), 0.0)
    if share < case.limit("padding") or labels.different <= 2:
        return None
    if any(left_out(case, reading) for reading in readings):
        return None  # the answers are counted as they should be: the loss is wrong
    return tell(
        f"{share:.0%} of {labels.text} are {number}, which the loss leaves out "
        f"(ignore_index={number}), and here they count as answers: no more than {1 - share:.0%} "
        "can be right",
        f"{look.pair.agreed:.1%} of all positions are right",
        where=look.where,
        step=looks[0].after,
        proof=Proof.INFERRED,
        fix=f"Count the other positions only: mask = {labels.text} != {number}; "
        f"(pred[mask] == {labels.text}[mask]).sum() / mask.sum().",
    )


FORMS = (_column, _ignored, _unrounded, _threshold, _decided, _wrong_end, _swapped)
