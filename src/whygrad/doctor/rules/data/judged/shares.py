"""Right answers that are divided by the size of other data."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.rule import Finding, Proof
from whygrad.doctor.source.judged import Flow
from whygrad.doctor.source.lines import name_assigned, place
from whygrad.doctor.source.reader import source_of
from whygrad.recording.judging.looks import Judged
from whygrad.source import Where

__all__ = ["FORMS"]

_Tell = Callable[..., Finding]
_RIGHT = re.compile(r"correct|right|hits?\b|n_ok|matche", re.IGNORECASE)


def _divided(case: Case, looks: list[Judged], flow: Flow | None, tell: _Tell) -> Finding | None:
    """Right answers of a loop, divided by more samples than it goes through."""
    look = looks[-1]
    gone, above, below = look.gone, look.number, look.other
    if look.kind != "quotient" or gone is None or above is None or below is None:
        return None
    counted, _, divisor = look.name.rpartition("* ")[2].partition(" / ")
    if not _RIGHT.search(counted) or above != int(above) or above > gone.samples:
        return None
    if below < case.limit("more") * gone.samples or below != int(below):
        return None
    if gone.file != look.where.file or not _is_added(gone.file, gone.line, counted):
        return None
    sampler = f" (a {gone.sampler} picks them from {gone.held})" if gone.held > gone.samples else ""
    return tell(
        f"{counted} is added up in a loop over {gone.samples} samples{sampler}, and {divisor} is "
        f"{below:.0f}: the share can never be above {gone.samples / below:.1%}",
        f"{above:.0f} of {gone.samples} were right the last time, {above / gone.samples:.1%}, and "
        f"{above / below:.1%} came out",
        where=_set_at(look, divisor),
        step=looks[0].after,
        proof=Proof.RECORDED,
        fix="Count the samples of this loop and divide by them: total += y.size(0).",
        places=[("the loop that counts", place(gone.file, gone.line))],
    )


def _set_at(look: Judged, divisor: str) -> Where:
    """The line that says what is divided by: the division, or that of a name."""
    named = name_assigned(look.where, divisor) if divisor.isidentifier() else None
    return named or look.where


def _is_added(file: str, line: int, counted: str) -> bool:
    """Whether the loop at a line adds to what is divided."""
    names = {each.id for each in ast.walk(ast.parse(counted)) if isinstance(each, ast.Name)}
    return any(
        isinstance(each.target, ast.Name) and each.target.id in names
        for loop in source_of(file).nodes(ast.For)
        if loop.lineno == line
        for each in ast.walk(loop)
        if isinstance(each, ast.AugAssign)
    )


FORMS = (_divided,)
