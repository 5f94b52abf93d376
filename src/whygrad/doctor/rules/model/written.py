"""First values that a program wrote, tried against others in a rehearsal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from whygrad.doctor.evidence.anatomy import layers_of
from whygrad.doctor.evidence.case import Case
from whygrad.doctor.experiments.own_values import Written, written_otherwise
from whygrad.doctor.experiments.rehearsal import rehearsed, stage_of
from whygrad.doctor.experiments.repairs import level
from whygrad.doctor.rules.rule import Finding, Proof, Rule
from whygrad.doctor.rules.words import listed
from whygrad.recording.record import Course, Parameter
from whygrad.recording.replay import Trace
from whygrad.recording.replay.recipes import tensor_like
from whygrad.recording.replay.trainer import is_below
from whygrad.source import Where

__all__ = ["from_own_values", "never_caught_up", "rehearsed_from", "written_at"]


def never_caught_up(case: Case, course: Course, trace: Trace, rule: Rule) -> Iterator[Finding]:
    """Written values from which the whole run did not get to where the library's begin.

    One pass forward shows it, of however large a model.
    """
    found, start = _written(case, course, trace)
    progress, chance = case.progress(course), case.chance(course.first)
    flat = all(each.is_flat for each in found if each.now.ndim > 1)
    if not start or flat or chance is None or not progress.end > case.limit("above") * chance:
        return
    assert course.first is not None
    begun = trace.again(values={**course.first.values, **start}, backward=False)
    if begun.error is None and is_below(begun.loss, case.limit("better"), progress.end):
        yield _about_written(
            rule,
            found,
            f"with the library's own first values the first batch costs {begun.loss:.4g} in place "
            f"of {trace.loss:.4g}, before any update; after {len(course.steps)} updates the run is "
            f"at {progress.end:.4g}",
        )


def _written(case: Case, course: Course, trace: Trace) -> tuple[list[Written], dict[int, Any]]:
    """What the program wrote, and the library's own values in its place."""
    found = case.once(
        ("written", id(course)), lambda: written_otherwise(case, course, trace.snapshot)
    )
    start = case.once(
        ("own values", id(course)),
        lambda: {id(it.parameter.tensor): tensor_like(trace.engine, it.own) for it in found},
    )
    return found, start


def from_own_values(
    case: Case, course: Course, trace: Trace, rule: Rule, *, flat: bool, long: bool = False
) -> Iterator[Finding]:
    """Values that a line of the program wrote, against those that the library draws itself.

    Those of one number all over, if ``flat``, or the others; of recurrent and attending layers,
    embeddings, biases and normalisations, too.  A ``long`` rehearsal shows what comes late.
    """
    if not trace.reproduced:
        return
    found, start = _written(case, course, trace)
    weights = [each for each in found if each.now.ndim > 1]
    if not weights:  # units that a bias kills or saturates are told by other rules
        found = [each for each in found if not _is_hidden_bias(case, trace, each.parameter)]
    if not found or flat != (bool(weights) and all(each.is_flat for each in weights)):
        return
    change = "from the library's own first values"
    told = rehearsed_from(case, course, start, change)
    if told is None and long:
        late = rehearsed(case, course, long=True, start=start)
        told = None if late is None else late[0].told(late[1], change)
        told = told or _made_up_for(case, course, start, change)
    if told is not None:
        yield _about_written(rule, found, told)


def _made_up_for(case: Case, course: Course, start: dict[int, Any], change: str) -> str | None:
    """A run all of whose updates went into undoing its first values.

    It ends where ignoring the input does, and so does a short training from other values: only
    the same training from its own is far above.
    """
    chance, stage = level(case, course), stage_of(case, course)
    end = case.progress(course).end
    if chance is None or stage is None or end < case.limit("nothing") * chance:
        return None
    found, control = stage.rehearse(start=start), stage.as_it_was()
    if found is None or control is None:
        return None
    long_way = len(course.steps) >= case.limit("times as long") * found.updates
    apart = is_below(found.held_out, case.limit("better"), control.held_out)
    if not (long_way and apart and found.held_out <= case.limit("above") * chance):
        return None
    return stage.told(found, change)


def _is_hidden_bias(case: Case, trace: Trace, parameter: Parameter) -> bool:
    """Whether it is a bias of another layer than the last."""
    layers = layers_of(case, trace)
    owner = parameter.name.rpartition(".")[0]
    return any(each.parameter.name.rpartition(".")[0] == owner for each in layers[:-1])


def _about_written(rule: Rule, found: list[Written], tried: str) -> Finding:
    worst = max(found, key=lambda each: (each.now.ndim > 1, each.now.size))
    now, own = worst.sizes
    size = (
        f"the same value everywhere, {worst.now.flat[0]:.3g}"
        if worst.is_flat
        else f"values of size {now:.3g}, {now / (own or 1):.2g} times as large as usual"
    )
    names = [each.parameter.name for each in found]
    return rule.finding(
        f"{worst.parameter.name} {list(worst.now.shape)} begins with {size}, written by the "
        f"program; the library gives it values of size {own:.3g}",
        tried,
        where=written_at([each.parameter for each in found], worst.parameter),
        proof=Proof.TRIED,
        fix=f"Leave {listed(names)} as the library draws {'them' if len(names) > 1 else 'it'}.",
        parameters=names,
    )


def rehearsed_from(case: Case, course: Course, start: dict[int, Any], change: str) -> str | None:
    """What a rehearsal from other first values showed; at a lower rate, if theirs is too high."""
    found = rehearsed(case, course, start=start)
    if found is not None:
        return found[0].told(found[1], change)
    lower = case.limit("slower")
    if rehearsed(case, course, factor=lower) is not None:
        return None  # it is the rate, and not the values
    found = rehearsed(case, course, factor=lower, start=start)
    return None if found is None else found[0].told(found[1], f"{change}, at {lower:g} of the rate")


def written_at(parameters: list[Parameter], worst: Parameter) -> Where | None:
    """The line that wrote most of them; else that of the worst."""
    written = Counter(each.written_at for each in parameters if each.written_at is not None)
    if written and written.most_common(1)[0][1] > 1:
        return written.most_common(1)[0][0]
    return worst.written_at or worst.made_at
