"""Attention that does not know the order of what it attends to.

Attention takes its places as a set; the order has to be told, by an encoding of positions, a mask
of what comes later, a recurrent layer.  A set is what some models are made for, so the replay alone
accuses nobody: the run has to have learned nothing, or the encoding has to be there, unused.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.experiments.places import Exchange, exchanged
from whygrad.doctor.experiments.repairs import unlearned
from whygrad.doctor.rules.rule import Finding, Proof, rule
from whygrad.doctor.source.lines import class_of
from whygrad.doctor.source.reader import walked
from whygrad.ops import families as ops
from whygrad.recording.record import Course
from whygrad.recording.replay import Traced
from whygrad.recording.replay.reading import Reading
from whygrad.source import Where

__all__: list[str] = []

_POSITIONS = re.compile(r"pos(?!t|s)|^pe$|^wpe$", re.IGNORECASE)
_BELOW = 2  # axes of the weights of attention: places that ask, places that are asked


@rule(
    thresholds={
        "updates": (30, "fewer do not show whether it learns"),
        "unlearned": (0.85, "of what ignoring the input costs: above it nothing was learned"),
    },
)
def order_blind(case: Case, course: Course) -> Iterator[Finding]:
    """The model cannot tell the order of its sequence.

    Attention sees the places of a sequence as a set. Without an encoding of positions each place is
    known by what stands there alone: "dog bites man" and "man bites dog" are the same.

    Measured: A training step is run again with the inner places of its input in another order: no
    answer changes. And nothing was learned, or the model has an encoding of positions that nothing
    uses. Models without attention, and those that learn, may be made for sets.
    Fix: Add an encoding of positions to the embeddings: h = self.emb(x) + self.pos(torch.arange(
    x.size(1))).
    Guardrail: assert not torch.allclose(model(x), model(x.flip(1)))
    """
    reading = case.reading(course.last or course.first)
    if reading is None or len(course.steps) < case.limit("updates") or not _attends(reading):
        return
    unused = _unused_encoding(reading)
    nothing = unlearned(case, course, case.limit("unlearned"))
    if unused is None and not nothing:
        return
    found = None if reading.term is None else exchanged(reading, reading.term)
    if found is None or found.is_noticed or _was_noticed(case, course):
        return
    call = _first_use(reading, found)
    length = found.given.values.shape[1]
    yield order_blind.finding(
        f"with the {length - 2} inner places of each sequence in the opposite order, no answer "
        "changes",
        None if unused is None else f"{unused[0]} is made, and no line but that uses it",
        "nothing was learned in the run" if nothing else None,
        where=reading.models[0].where if call is None else call.where,
        proof=Proof.REPLAYED if unused is not None and nothing else Proof.INFERRED,
        places=[] if unused is None else [("made here", unused[1] or case.run.made.get(unused[2]))],
        fix=order_blind.fix
        if unused is None
        else f"Use {unused[0]} in forward(), on the embeddings, before the first attention.",
    )


def _was_noticed(case: Case, course: Course) -> bool:
    """Whether the order made a difference at first: then it is told, and was lost in training."""
    reading = case.reading(course.first)
    found = None if reading is None or reading.term is None else exchanged(reading, reading.term)
    return found is not None and found.is_noticed


def _attends(reading: Reading) -> bool:
    """Whether places of a sequence are weighed against each other by what is learned."""
    return any(
        call.op in ops.ATTENTION or (call.op in ops.PROBABILITIES and _is_square(call))
        for call in reading.trace.calls
        if call.inputs and call.inputs[0].requires_grad
    )


def _is_square(call: Traced) -> bool:
    shape = tuple(call.inputs[0].shape)
    return len(shape) > _BELOW and shape[-1] == shape[-2]


def _first_use(reading: Reading, found: Exchange) -> Traced | None:
    numbers = {number for number, _ in found.given.places}
    used = [call for call in reading.trace.calls if call.number in numbers]
    embedded = [call for call in used if call.op in ops.EMBEDDING]
    return next(iter(embedded or used), None)


def _unused_encoding(reading: Reading) -> tuple[str, Where | None, int] | None:
    """An encoding of positions that a model has, and that only the line which makes it names."""
    for mark in reading.models:
        for module in mark.module.modules():
            text = class_of(type(module))
            for name, part in _own(module):
                if text is not None and _POSITIONS.search(name) and not _is_named(text, name):
                    return f"self.{name}", None, id(part)
    return None


def _own(module: Any) -> Iterator[tuple[str, Any]]:
    yield from module.named_children()
    yield from module.named_parameters(recurse=False)
    yield from module.named_buffers(recurse=False)


def _is_named(text: ast.ClassDef, name: str) -> bool:
    """Whether a method other than the one that makes it names a part."""
    return any(
        each.attr == name or name in _strings(each)
        for method in walked(text, ast.FunctionDef)
        if method.name != "__init__"
        for each in walked(method, ast.Attribute)
    )


def _strings(node: ast.AST) -> list[str]:
    return [it.value for it in walked(node, ast.Constant) if isinstance(it.value, str)]
