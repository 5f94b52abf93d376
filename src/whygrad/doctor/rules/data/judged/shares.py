"""Right answers that are divided by the size of other data."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from whygrad.doctor.evidence.case import Case
from whygrad.doctor.rules.rule import Finding, Proof
from whygrad.doctor.source.judging.flow import Flow
from whygrad.doctor.source.lines import name_assigned, place
from whygrad.doctor.source.reader import source_of, walked
from whygrad.recording.judging.looks import Judged
from whygrad.source import Where
from whygrad.why.syntax import parsed

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
    """Whether the loop at a line adds to what is divided, from 0."""
    names = {each.id for each in ast.walk(parsed(counted)) if isinstance(each, ast.Name)}
    source = source_of(file)
    loop = next((each for each in source.nodes(ast.For) if each.lineno == line), None)
    added = [] if loop is None else list(walked(loop, ast.AugAssign))
    if not any(isinstance(each.target, ast.Name) and each.target.id in names for each in added):
        return False
    return any(_begins(each.body, line, names) for each in source.nodes(ast.AST)
               if isinstance(each, (ast.Module, ast.FunctionDef, ast.For, ast.While)))  # fmt: skip


def _begins(body: list[ast.stmt], line: int, names: set[str]) -> bool:
    """Whether a block sets a name to 0 and then comes to the loop, perhaps in a ``with``: what is
    set further out adds up several rounds."""
    plain = [inner for each in body for inner in (each, *_inside(each))]
    sets = any(
        isinstance(each, ast.Assign)
        and names & {one.id for target in each.targets for one in walked(target, ast.Name)}
        for each in plain
    )
    return sets and any(isinstance(each, ast.For) and each.lineno == line for each in plain)


def _inside(statement: ast.stmt) -> list[ast.stmt]:
    return statement.body if isinstance(statement, ast.With) else []


FORMS = (_divided,)
