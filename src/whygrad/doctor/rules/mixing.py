"""Samples of one batch that see each other: attention or a normalisation along the batch.

Proved by a step in which one sample is another one: the answers of the others must stay.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.evidence.flow import first_readings, follow, line_of, shape_of
from whygrad.doctor.evidence.provenance import rows_of
from whygrad.doctor.experiments.influence import Comparison, Given, compared, given_to_models
from whygrad.doctor.experiments.repairs import unlearned
from whygrad.doctor.rules.rule import Finding, Proof, Rule
from whygrad.doctor.source.reader import called, source_of, walked
from whygrad.ops import families as ops
from whygrad.recording.record import Course, Mark
from whygrad.recording.replay import Trace, Traced
from whygrad.recording.replay.reading import Reading, Term
from whygrad.source import Where

__all__ = ["mixed"]

_FEWEST = 4  # samples: of fewer, one is too large a share to tell
_PRODUCTS = ops.MATRIX_PRODUCTS | ops.EINSUM
_WITHIN = ops.SAMPLE_NORMALIZERS | ops.NORMALIZE | ops.PROBABILITIES  # for one sample at a time
_CROSSING = _WITHIN | _PRODUCTS | ops.ATTENTION


@dataclass(frozen=True)
class _Mixing:
    """The first call that carries something from one sample to others."""

    call: Traced
    where: Where
    size: int  # samples of the batch
    row: int  # the sample that was changed …
    others: int  # … and how many answers for others changed with it
    module: Mark | None = None  # attention of the library that was not told where the batch is


def mixed(case: Case, rule: Rule) -> Iterator[Finding | None]:
    """What lets the samples of a batch see each other, as a finding of this rule."""
    for reading in first_readings(case):
        course = next((it for it in case.courses if it.first is reading.trace.snapshot), None)
        found = _mixing(case, course, reading)
        yield None if found is None else _about(rule, reading.trace, found)


def _mixing(case: Case, course: Course | None, reading: Reading) -> _Mixing | None:
    """None where no call mixes samples, or what counts the samples is not known."""
    # What one model hands to the next is no input of the step.
    given = [each for each in given_to_models(reading) if not each.tensor.requires_grad]
    for term in reading.terms:
        size = _samples(reading, term, given)
        if size is None:
            continue
        found = _one_changed(reading, term, given, size)
        if found is None:
            continue
        comparison, row, others = found
        if not others:
            deaf = _deaf(comparison.plain, size)
            if deaf is None:
                continue
            where = _line(case, comparison.plain, deaf[0], deaf[1])
            return _Mixing(deaf[0], where, size, row, others, deaf[1])
        call = _crossing(comparison, reading, term)
        if call is None:
            continue
        laid = _laid_out_anew(comparison, call, size)
        if laid is not None:
            return _Mixing(laid, laid.where, size, row, others)
        if call.op not in _CROSSING:
            continue
        module = _time_first(comparison.plain, call, size)
        on_purpose = module is None and call.op not in _WITHIN
        within = any(each.before <= call.number < each.after for each in reading.models)
        if on_purpose and reading.models and not within:
            return None  # samples that a loss compares with each other
        if on_purpose and (course is None or not unlearned(case, course, case.limit("mixed"))):
            return None  # attention between samples that serves its end
        where = _line(case, comparison.plain, call, module)
        return _Mixing(call, where, size, row, others, module)
    return None


def _samples(reading: Reading, term: Term, given: list[Given]) -> int | None:
    """How many samples the batch has, if it is sure that axis 0 counts them."""
    if term.target is None or term.source is None or not given:
        return None
    answers = shape_of(term.prediction), shape_of(term.target)
    sizes = {each.values.shape[:1] for each in given}
    rows = {each[:1] for each in answers}
    if len(rows) != 1 or len(sizes) != 1 or () in rows | sizes:
        return None
    size, count = int(next(iter(sizes))[0]), int(next(iter(rows))[0])
    others = [n for each in (*answers, *(it.values.shape for it in given)) for n in each[1:]]
    if size < _FEWEST or size in others or count % size:
        return None
    shuffled = any(
        (found := rows_of(reading.trace, each.source, each.tensor)) is not None and found.shuffles
        for each in given
    )
    # Of [T, N, F] the answers are for N, or for both; rows that were drawn are no time steps.
    sequences = all(each.values.ndim > 1 for each in given) and _is_sequence(given, reading)
    apart = (
        sequences
        and count == size
        and not any(each.values.shape[1] in answer[1:] for each in given for answer in answers)
    )
    return size if shuffled or apart else None


def _is_sequence(given: list[Given], reading: Reading) -> bool:
    """Whether samples are sequences: numbers for each place, or tokens that are embedded."""
    looked_up = {call.number for call in reading.trace.calls if call.op in ops.EMBEDDING}
    return all(
        each.values.ndim > 2 or any(number in looked_up for number, _ in each.places)
        for each in given
    )


def _one_changed(
    reading: Reading, term: Term, given: list[Given], size: int
) -> tuple[Comparison, int, int] | None:
    """The step with one sample in the place of another, and how many other answers changed.

    None where its own answer changed and no other did, as it should be.
    """
    row = size // 2
    other = next(
        (at for at in range(size) if any((it.values[at] != it.values[row]).any() for it in given)),
        None,
    )
    if other is None:
        return None
    values = {}
    for place, each in enumerate(given):
        values[place] = each.values.copy()
        values[place][row] = each.values[other]
    comparison = compared(reading, given, values, 1 / size)
    pair = None if comparison is None else comparison.result(term.source)
    if comparison is None or pair is None or pair[0].size % size:
        return None
    moved = comparison.moved(*pair).reshape(size, -1).any(axis=1)
    others = int(np.delete(moved, row).sum())
    return None if moved[row] and not others else (comparison, row, others)


def _crossing(comparison: Comparison, reading: Reading, term: Term) -> Traced | None:
    """The first call by which more than one sample differs, if it is one that should not."""
    begin = min((mark.before for mark in reading.models), default=0)
    for call in comparison.plain.calls:
        if not begin <= call.number < term.call.number:
            continue
        if not comparison.spreads(call) or not comparison.confined(call):
            continue
        learned = all(each.requires_grad for each in call.inputs[:2])
        plain = call.op in _PRODUCTS and not learned  # a graph, or a table of neighbours
        return None if plain else call
    return None


def _laid_out_anew(comparison: Comparison, call: Traced, size: int) -> Traced | None:
    """The view by which one sample gets into several rows of what a layer is given."""
    if call.op not in ops.WEIGHTED or not call.inputs[0].requires_grad:
        return None
    changed = comparison.rows(call.sources[0])
    if changed is None or len(changed) != size or changed.sum() < 2:
        return None
    for passed, place, _ in follow(comparison.plain, call.sources[0]).passed:
        before = comparison.rows(passed.sources[place])
        if before is not None and len(before) == size and before.sum() == 1:
            return passed if passed.op in ops.RESHAPES | ops.TRANSPOSES else None
    return None


def _deaf(trace: Trace, size: int) -> tuple[Traced, Mark] | None:
    """Attention along the batch at a place that is the same for all samples, as that of a CLS."""
    for call in trace.calls:
        mark = _time_first(trace, call, size)
        if mark is not None:
            return call, mark
    return None


def _time_first(trace: Trace, call: Traced, size: int) -> Mark | None:
    """Attention of the library that was given the batch first, and was not told so."""
    for mark in trace.marks():
        if not mark.before <= call.number < mark.after or call.op not in ops.ATTENTION:
            continue
        given = trace.value(mark.inputs[0]) if mark.inputs else None
        if getattr(mark.module, "batch_first", None) is False and given is not None:
            shape = shape_of(given)
            if len(shape) == 3 and shape[0] == size:
                return mark
    return None


def _line(case: Case, trace: Trace, call: Traced, module: Mark | None) -> Where:
    """Where the module was made; else the line that moved the batch away from axis 0."""
    if module is not None:
        return _made(case, trace, call, module) or call.where
    if call.op in _PRODUCTS | ops.ATTENTION:
        for source in call.sources:
            for passed, _, _ in follow(trace, source).passed:
                if passed.op in ops.TRANSPOSES:
                    return passed.where
    return line_of(case, trace, call)


def _made(case: Case, trace: Trace, call: Traced, module: Mark) -> Where | None:
    """Where attention was made: itself, or the layer of the library that copies of it are in."""
    made = case.run.made
    around = [each for each in trace.marks() if each.before <= call.number < each.after]
    if id(module.module) in made:
        return made[id(module.module)]
    library = [it for it in around if type(it.module).__module__.startswith(("torch.", "whygrad."))]
    kinds = {each.kind for each in library}
    for stack in (each for each in library if id(each.module) in made):
        where = made[id(stack.module)]
        named = [it for it in walked(source_of(where).tree, ast.Call) if called(it) in kinds]
        lines = {it.lineno for it in named if called(it) != stack.kind}
        if len(lines) == 1:
            return where.on_line(lines.pop()) or where
        return where
    return None


def _about(rule: Rule, trace: Trace, found: _Mixing) -> Finding:
    """What there is to tell about it."""
    call, mark = found.call, found.module
    shape = list(shape_of(call.inputs[0]))
    if call.op in ops.RESHAPES | ops.TRANSPOSES:
        title = "The numbers of several samples get into one row"
        told = f"{call.op} at {call.spot} makes {list(shape_of(call.outputs[0]))} of {shape}: what "
        told += "belongs to one sample stands in several rows behind it"
        fix = "Keep the batch on axis 0: x.flatten(1), or x.view(x.size(0), -1)."
    elif mark is not None:
        title = "Attention goes over the samples of a batch in place of the places of a sequence"
        told = f"{mark.kind} at line {mark.where.line} gets {shape} and, without batch_first, "
        told += "takes axis 1 for the batch"
        fix = f"Make it with batch_first=True, at line {found.where.line}."
    elif call.op in _WITHIN:
        title = f"{call.op} runs along the samples of a batch"
        told = f"{call.op} at {call.spot} gets {shape} and works along the batch"
        fix = f"Let {call.op} run along the features: dim=-1."
    else:
        title = "Attention goes over the samples of a batch"
        told = f"{call.op} at {call.spot} brings the samples of a batch together: it gets {shape}"
        fix = "Keep the batch on axis 0: the products are to be over the places of one sample."
    then = f"the answers for {found.others} of the {found.size - 1} other samples change"
    if not found.others:
        then = "no answer changes, not even its own"
    return rule.finding(
        told,
        f"with another sample in place {found.row} of the batch, and all else as it was, {then}",
        title=title,
        where=found.where,
        step=trace.snapshot.step,
        proof=Proof.REPLAYED,
        fix=fix,
        guardrail="assert torch.allclose(model(batch)[:1], model(batch[:1]), atol=1e-4)",
    )
