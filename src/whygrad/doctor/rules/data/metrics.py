"""Metrics that do not measure what they say.

A model may be well and its accuracy wrong.  The program computes it in a few calls of its own,
which were written down the first times, and sums it up over batches, which stands in its text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.data.judged import misjudged
from whygrad.doctor.rules.data.judged.compared import losses_of, misread, one_sided_threshold
from whygrad.doctor.rules.rule import Finding, Proof, once, rule
from whygrad.doctor.source.counting import Miscount, miscounts
from whygrad.ops import families as ops
from whygrad.recording.evaluation import Comparison, Side

__all__: list[str] = []

_CHOOSING = ops.POSITIONS | ops.EXTREMES | ops.RANKED
_PAIRING = ops.EQUALITIES | ops.DIFFERENCES | ops.LOSSES


@rule(
    thresholds={
        "never": (0.01, "of the answers equal to their label: by chance"),
        "broken": (0.5, "of the values that are whole: fewer, and they are no classes"),
        "beyond": (0.2, "of the answers that are neither 0 nor 1"),
        "logits": (0.3, "of the outputs beyond 0 and 1: no probabilities"),
        "half": (0.5, "what probabilities are compared with"),
        "figures": (64, "of the program whose files are read"),
        "samples": (2, "in a batch: with one, batches and samples are the same number"),
        "answers": (32, "on a side: with fewer, much may be by chance"),
        "noise": (4.0, "times what chance alone would differ by"),
        "alike": (3.0, "times the spread of one side: more, and they are not of one kind"),
        "part": (1.5, "times the samples judged: so many went by, and were not"),
        "epochs": (3, "in which a list grew by as much as it had: no chance"),
        "follows": (0.7, "of a correlation: the answers are right but for their units"),
        "closer": (4.0, "times what is left of an error in the same units"),
        "units": (10.0, "times the spread of the other: no model is so far off and so right"),
        "scale": (3.0, "times the spread of the other: not the same units"),
        "apart": (3.0, "spreads between two means: not the same units"),
        "upside": (0.3, "of an area under a curve: worse than any chance"),
        "padding": (0.05, "of the labels that the loss leaves out: less changes little"),
        "trained": (0.5, "of the samples of a figure: held-out ones come up in no training"),
        "times": (2, "that a best one was asked for"),
        "roots": (1.03, "times a mean of roots: less changes no decision"),
        "more": (1.2, "times the samples of a loop: more than a last batch that is dropped"),
    }
)
def metric_bug(case: Case) -> Iterator[Finding]:
    """A metric does not measure what it says.

    The model may be better or worse than the number: answers are compared with the labels of other
    samples, in other units, with numbers that they never take, or the counts do not belong
    together. What is learned does not change with it, but every decision that is taken by this
    number does.

    Measured: The first comparisons of each line that looks at the model's answers outside of
    gradients: shapes, values, the calls in between; what the text adds up and divides by; and, of
    figures of NumPy, pandas, scikit-learn and plain Python, the two lists that they lay beside
    each other when the program comes there, with where the text says that these come from.
    Fix: Compare one answer with one label, and divide right answers by samples.
    Guardrail: assert pred.shape == y.shape and 0 <= accuracy <= 1
    """
    lines: dict[str, list[Comparison]] = {}
    for each in case.run.comparisons:
        lines.setdefault(f"{each.where} {each.where.key} {each.by}", []).append(each)
    forms = (_broadcast, _one_column, _unrounded, _other_values, _threshold)
    asked = [ask(case, seen) for seen in lines.values() for ask in forms]
    asked += [one_sided_threshold(case, seen, metric_bug.finding) for seen in lines.values()]
    found: list[Finding] = [each for each in asked if each is not None]
    surest = sorted(found, key=lambda each: each.proof is not Proof.RECORDED)
    yield from once(surest)
    outside = [] if found else list(once(misjudged(case, metric_bug.finding)))
    yield from outside
    if not found and not outside:
        yield from once((*_miscounted(case), *misread(case, metric_bug.finding)))


def _pair(comparison: Comparison) -> tuple[Side, Side] | None:
    """The answers of a model, and the labels that they are compared with."""
    if len(comparison.sides) != 2:
        return None
    one, other = comparison.sides
    if (one.steps is None) == (other.steps is None):
        return None
    return (other, one) if one.steps is None else (one, other)


def _broadcast(case: Case, seen: list[Comparison]) -> Finding | None:
    for each in seen:
        pair = _pair(each) if each.op in _PAIRING else None
        if pair is None or pair[0].range.size != pair[1].range.size:
            return None
        answers, labels = (side.range for side in pair)
        together = _together(answers.shape, labels.shape)
        if together is None or math.prod(together) <= answers.size:
            return None
        beside = [one for one in case.run.comparisons if one.where == each.where]
        shared = each.by is not None and any(one.by != each.by for one in beside)
        column = "labels" if labels.shape[-1:] == (1,) else "answers"
        counted = f", {each.agreed:.1%} of them equal" if each.op in ops.EQUALITIES else ""
        return metric_bug.finding(
            f"answers {list(answers.shape)} against labels {list(labels.shape)} make "
            f"{list(together)}: every answer meets every label",
            f"{math.prod(together)} comparisons for {answers.size} samples{counted}: their sum "
            "divided by the samples is no accuracy and may be above 1",
            where=each.by if shared else each.where,  # others call it with shapes that fit
            step=each.after,
            proof=Proof.RECORDED,
            places=[("compared here", each.where if shared else None)],
            fix=f"Give both the same shape: squeeze the column of the {column}, .squeeze(-1).",
        )
    return None


def _together(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape that two are broadcast to."""
    longest = max(len(one), len(other))
    pairs = zip((1,) * (longest - len(one)) + one, (1,) * (longest - len(other)) + other)
    found = []
    for left, right in pairs:
        if left != right and 1 not in (left, right):
            return None
        found.append(max(left, right))
    return tuple(found)


def _one_column(case: Case, seen: list[Comparison]) -> Finding | None:
    for each in seen:
        shape = each.sides[0].range.shape
        if each.dim is None or not -len(shape) <= each.dim < len(shape):
            return None
        if shape[each.dim] != 1 or each.sides[0].range.size < case.limit("samples"):
            return None
    each = seen[0]
    compared = any(
        each.op in (side.steps or ()) for one in case.run.comparisons for side in one.sides
    )
    if each.op not in ops.POSITIONS and not compared:
        return None
    logits = any(op in ops.BINARY_WITH_LOGITS for op in losses_of(case))
    probable = not each.sides[0].outside and not logits
    better = "(out > 0.5)" if probable else "(out > 0)"
    return metric_bug.finding(
        f"{each.op} along dim {each.dim} of {list(each.sides[0].range.shape)}, which has one "
        "column: the answer is class 0 for every sample",
        where=each.where,
        step=each.after,
        proof=Proof.RECORDED,
        fix=f"With one output per sample ask on which side it is: {better}, not which column.",
    )


def _unrounded(case: Case, seen: list[Comparison]) -> Finding | None:
    for each in seen:
        pair = _pair(each) if each.op in ops.EQUALITIES else None
        if pair is None or pair[0].range.size < case.limit("samples"):
            return None
        if pair[0].whole > case.limit("broken") or each.agreed > case.limit("never"):
            return None
    answers, labels = _pair(seen[0]) or seen[0].sides
    ranges = answers.range
    if labels.whole < case.limit("broken"):
        advice = "Measurements are never equal: judge them by an error, (pred - y).abs().mean()."
    elif len(ranges.shape) > 1 and ranges.shape[1] > 1:
        advice = "Take the class with the largest output first: out.argmax(dim=1) == y."
    elif labels.range.high > 1:
        advice = "Round first, out.round() == y, or give the model one output for each class."
    else:
        middle = 0 if answers.outside else case.limit("half")
        advice = f"Decide first: (out > {middle:g}) == y.bool()."
    return metric_bug.finding(
        f"outputs from {ranges.low:.3g} to {ranges.high:.3g}, {1 - answers.whole:.0%} of them no "
        f"whole numbers, are asked to equal labels from {labels.range.low:g} to "
        f"{labels.range.high:g}",
        f"{seen[0].agreed:.1%} of {ranges.size} do",
        where=seen[0].where,
        step=seen[0].after,
        proof=Proof.RECORDED,
        fix=advice,
    )


def _other_values(case: Case, seen: list[Comparison]) -> Finding | None:
    for each in seen:
        pair = _pair(each) if each.op in ops.EQUALITIES else None
        if pair is None or pair[0].whole < 1 or pair[1].whole < 1:
            return None
        answers, labels = pair
        if _CHOOSING.any_of(answers.steps or ()):
            return None
        signs = labels.range.low == -1 and labels.range.high == 1 and not labels.range.zeros
        flags = labels.range.low == 0 and labels.range.high == 1
        inside = not answers.outside
        if not (signs and inside) and not (flags and answers.outside > case.limit("beyond")):
            return None
    answers, labels = _pair(seen[0]) or seen[0].sides
    signed = labels.range.low < 0
    return metric_bug.finding(
        f"the answers are {answers.range.low:g} to {answers.range.high:g}, "
        f"the labels {labels.range.low:g} and {labels.range.high:g}",
        None if signed else f"{answers.outside:.0%} of the answers are neither 0 nor 1",
        where=seen[0].where,
        step=seen[0].after,
        proof=Proof.RECORDED,
        fix=(
            "Compare with the labels as they are: out.sign() == y."
            if signed
            else "Logits are no probabilities: (logits > 0) == y.bool(), or sigmoid before round()."
        ),
    )


def _threshold(case: Case, seen: list[Comparison]) -> Finding | None:
    losses = losses_of(case)
    for each in seen:
        answers = each.sides[0]
        if each.op not in ops.ORDERINGS or len(each.sides) != 1 or answers.steps is None:
            return None
        if ops.PROBABILITIES.any_of(answers.steps) or ops.SIGMOIDS.any_of(answers.steps):
            return None
        logits = any(op in ops.BINARY_WITH_LOGITS for op in losses)
        if not logits or each.number != case.limit("half"):
            return None
        if answers.outside < case.limit("logits"):
            return None
    ranges = seen[0].sides[0].range
    return metric_bug.finding(
        f"logits from {ranges.low:.3g} to {ranges.high:.3g} are compared with 0.5, the "
        "threshold of probabilities: as one that is 0.62",
        where=seen[0].where,
        step=seen[0].after,
        proof=Proof.INFERRED,
        fix="Compare logits with 0, or torch.sigmoid(logits) with 0.5.",
    )


# --- what is added up -----------------------------------------------------------------------------


def _miscounted(case: Case) -> Iterator[Finding]:
    run, few = case.run, int(case.limit("figures"))
    files = [each.where.file for each in run.comparisons]
    files += [each.where.file for each in (*run.figures[:few], *run.evaluations[:few])]
    files += [each.where.file for each in run.passes[:1]]
    for file in dict.fromkeys(files):
        for each in miscounts(file):
            found = _told(case, each)
            if found is not None:
                yield found


def _told(case: Case, each: Miscount) -> Finding | None:
    batch = _batch(case, each)
    quotient = f"{each.name} / {each.divisor}"
    if each.kind == "kept":
        said = f"{each.name} is set to 0 before the loop over epochs and never again in it"
        then = f"{quotient} divides what all epochs added up by the count of one"
        fix = f"Set {each.name} to 0 at the beginning of each epoch."
    elif each.kind == "compared":
        said = f"{each.name} is set to 0 before the loop over epochs and never again in it"
        then = (
            f"compared with {each.divisor} it has what all epochs before added up, and only grows"
        )
        fix = f"Set {each.name} to 0 at the beginning of each epoch."
    elif each.kind == "object":
        said = f"{each.name} is set to 0 when the object is made and never again"
        then = f"it has what all rounds before added up, and only grows; {each.divisor} begins anew"
        fix = f"Set {each.name} to 0 before the loop that adds it up, like {each.divisor}."
    elif each.kind == "last":
        said = f"{quotient} is taken after the loop over batches, and one of the two is set anew "
        said += "in each of them"
        then = "so that they do not count the same samples: one is of the last batch alone"
        fix = "Add up both over all batches (+=), from 0 before the loop."
    elif batch < case.limit("samples"):
        return None
    elif each.kind == "batches":
        said = f"{each.name} adds up right answers, {each.divisor} counts batches"
        then = f"a batch has {batch} samples here: {quotient} is up to {batch} times an accuracy"
        fix = f"Divide {each.name} by the number of samples."
    else:
        said = f"{each.name} adds up one mean per batch, {each.divisor} counts samples"
        then = f"a batch has {batch} samples here: {quotient} is a {batch}th of the accuracy"
        fix = "Divide the sum of means by the number of batches, or add up right answers."
    return metric_bug.finding(
        said,
        then,
        where=each.where,
        proof=Proof.INFERRED,
        fix=fix,
        places=[
            ("added here", each.added),
            ("compared here" if each.kind == "compared" else "divided here", each.divided),
        ]
        if each.kind != "object"
        else [],
    )


def _batch(case: Case, found: Miscount) -> int:
    """The most samples that a model was given, or that were compared, in a loop over batches."""
    sizes = [0]
    for one in case.run.fed.values():
        if one.where.file == found.added.file and found.loop <= one.where.line <= found.end:
            sizes += [each.shape[0] for each in one.ranges]
    for each in case.run.comparisons:
        if each.where.file == found.added.file and found.loop <= each.where.line <= found.end:
            sizes += [each.sides[0].range.shape[0] if each.sides[0].range.shape else 0]
    return max(sizes)
