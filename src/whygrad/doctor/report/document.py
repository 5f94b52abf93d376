"""The report as sections: what it says, in which order, before anybody prints it.

A sick run gets a postmortem.  A healthy one gets two or three lines, because silence is the
message; on request (``full``) with the measurements that speak for it.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from whygrad.doctor.report.blocks import (
    Block,
    Code,
    CodeLine,
    Fold,
    Headline,
    Items,
    Label,
    Section,
    Table,
    Text,
)
from whygrad.doctor.report.excerpt import advice, excerpt
from whygrad.doctor.report.postmortem import Postmortem
from whygrad.doctor.report.tables import calls_table, parameters_table, ramp_table
from whygrad.doctor.report.words import (
    change,
    count,
    ending,
    extent,
    line,
    number,
    origin,
    path,
    place,
)
from whygrad.doctor.rules.rule import Finding, rules
from whygrad.doctor.source.lines import raised
from whygrad.recording.replay import SAME_LOSS
from whygrad.source import Where

__all__ = ["document", "subject"]

_RULED_OUT = 6  # of those shown before folding


def subject(case: Postmortem) -> str:
    """What was examined: ``train.py · PyTorch · 80 steps``."""
    run = case.run
    engine = {"torch": "PyTorch"}.get(run.engine.name, run.engine.name) if run.engine else None
    steps = count(case.history.steps, "step" if case.case.courses else "pass")
    parts = [path(run.script) if run.script else None, engine, steps]
    return " · ".join(each for each in parts if each)


def document(case: Postmortem, *, full: bool = False) -> list[Section]:
    """The sections of a report; ``full`` adds what there is room for on a page."""
    if not case.diagnosis.findings and not case.unclear:
        return list(_healthy(case, full))
    sections = [
        _unclear(case) if case.unclear else _verdict(case),
        _timeline(case),
        _first_bad(case),
        _ramp(case),
        _further(case),
        _asides(case),
        _parameters(case) if full else None,
        _ruled_out(case, full),
        _reproduce(case),
        _remarks(case),
    ]
    return [each for each in sections if each is not None]


# --- a healthy run --------------------------------------------------------------------------------


def _healthy(case: Postmortem, full: bool) -> Iterator[Section]:
    run, points, doubt = case.run, case.history.loss.points, case.diagnosis.doubt
    about = subject(case)
    if doubt is None:
        title = "It learned" if case.diagnosis.asides else "Nothing wrong"
        lines: list[Block] = [Headline(title, "", (about,), "healthy")]
    else:
        lines = [Headline("Nothing found; not called well", "", (about,), "open")]
        lines.append(Text(f"{doubt[0].upper()}{doubt[1:]}."))
    unasked = case.diagnosis.unasked
    if points:
        losses = change(points[0][1], points[-1][1]) if len(points) > 1 else number(points[0][1])
        watched = count(len(run.parameters), "parameter")
        asked = len(rules.keys() - {name for name, _ in case.diagnosis.failures} - {*unasked})
        lines.append(Text(f"loss {losses}; {watched}, {asked} rules asked", faint=True))
    if run.error is not None:
        lines.append(Text(f"The program was stopped: {ending(run.error)}"))
    lines += [Text(f"Note: {note}") for note in case.diagnosis.notes]
    yield Section("verdict", "Verdict", tuple(lines))
    sections = (_ramp(case), _parameters(case), _ruled_out(case, full)) if full else ()
    for each in (_asides(case), *sections, _remarks(case)):
        if each is not None:
            yield each


# --- a sick one -----------------------------------------------------------------------------------


def _unclear(case: Postmortem) -> Section:
    """Something went wrong and no rule knows why: what is known is said all the same."""
    about, crash = Text(subject(case), faint=True), case.run.crash
    if case.history.bad is not None:
        title = "No rule knows the cause, and a value is not finite"
        headline = Headline(title, "", (f"from step {case.history.bad}",), "unclear")
        return Section("verdict", "Verdict", (about, headline, Text("What is known stands below.")))
    lines = raised(crash)
    at = place(lines[-1]) if lines else ""
    title = f"The program ended with {type(crash).__name__}, and no rule knows why"
    shown = excerpt(lines[-1]) if lines else None
    blocks = (about, Headline(title, "", (at,) if at else (), "unclear"), Items((ending(crash),)))
    return Section("verdict", "Verdict", blocks if shown is None else (*blocks, shown))


def _verdict(case: Postmortem) -> Section:
    verdict = case.diagnosis.verdict
    assert verdict is not None
    causes, symptoms = len(case.diagnosis.causes), len(case.diagnosis.findings)
    found = count(causes, "cause")
    if symptoms > causes:
        found += f", {count(symptoms - causes, 'symptom')}"
    about = Text(f"{subject(case)} · {found}", faint=True)
    blocks: list[Block] = [about, *_finding(case, verdict)]
    if case.diagnosis.suspected:
        blocks.append(Text("This is a suspicion: other reasons were not ruled out.", faint=True))
    return Section("verdict", "Verdict", tuple(blocks))


def _finding(case: Postmortem, finding: Finding) -> Iterator[Block]:
    """A root cause: what, where, why we think so, what to do, and what it explains."""
    yield _headline(finding)
    if finding.evidence:
        yield Items(tuple(finding.evidence))
    yield from _excerpts(finding)
    tried = finding.tried
    fix = "Fix" if tried is None or tried.helped is not False else "What is usually the fix"
    for label, text in ((fix, finding.fix), ("Guardrail to keep", finding.guardrail)):
        blocks = advice(text)
        if blocks:
            yield Label(label)
            yield from blocks
            if tried is not None and text is finding.fix:
                yield Text(tried.text, faint=not tried.helped)
    symptoms = case.symptoms(finding)
    if symptoms:
        title = f"Explains {count(len(symptoms), 'symptom')}"
        yield Fold(title, (Items(tuple(map(_symptom, symptoms))),))


def _excerpts(finding: Finding) -> Iterator[Code]:
    """The line of the finding and the others that belong to it, each place once."""
    places: dict[str, tuple[Where, list[str]]] = {}
    if finding.where is not None:
        places[line(finding.where)] = finding.where, []
    for what, where in finding.places:
        places.setdefault(line(where), (where, []))[1].append(what)
    seen: set[str] = set()
    for name, (where, labels) in places.items():
        code = excerpt(where, f"{'; '.join(labels)}: {name}" if labels else "")
        if code is not None and name not in seen:
            file = name.rpartition(":")[0]
            seen |= {f"{file}:{each.number}" for each in code.lines}
            yield code


def _headline(finding: Finding) -> Headline:
    facts = [
        place(finding.where),
        "" if finding.step is None else f"from step {finding.step}",
        str(finding.proof),
    ]
    mood = "unclear" if finding.certainty == "possible" else "cause"
    return Headline(finding.title, finding.rule, tuple(each for each in facts if each), mood)


def _symptom(finding: Finding) -> str:
    facts = [
        f"`{finding.rule}`: {finding.title}",
        "" if finding.step is None else f"from step {finding.step}",
        line(finding.where),
        *finding.evidence[:1],
    ]
    return "; ".join(each for each in facts if each)


def _timeline(case: Postmortem) -> Section:
    texts, marked = [], set()
    for at, event in enumerate(case.events):
        rule = f"`{event.rule}`: " if event.rule else ""
        where = "" if event.kind == "first" or not event.where else f" ({line(event.where)})"
        texts.append(f"step {event.step}: {rule}{event.text}{where}")
        if event.kind == "first":
            marked.add(at)
    return Section(
        "timeline", "Timeline", (Items(tuple(texts), numbered=True, marked=frozenset(marked)),)
    )


def _first_bad(case: Postmortem) -> Section | None:
    bad = case.case.first_bad
    if bad is None:
        return None
    blocks: list[Block] = [Text(f"Step {case.history.step_of_pass(bad.step)}: {origin(bad)}.")]
    shown = excerpt(bad.where)
    verdict = case.diagnosis.verdict
    if shown is not None and (verdict is None or place(verdict.where) != place(bad.where)):
        blocks.append(shown)
    found = bad.kind in ("data", "parameter")
    rows = [] if found else [("goes in", extent(each)) for each in bad.before]
    if bad.arrived is not None:
        rows.append(("gradient arriving", extent(bad.arrived)))
    if bad.after is not None:
        made = "gradient sent on" if bad.kind == "backward" else "comes out"
        rows.append(("holds" if found else made, extent(bad.after)))
    if rows:
        blocks.append(Table(("", bad.op), tuple(rows), words=frozenset((0, 1))))
    calls = calls_table(bad)
    if calls is not None:
        blocks.append(calls)
    if bad.trace is not None:
        same = (
            f"came out the same (to within {SAME_LOSS:.1%})"
            if bad.reproduced
            else "came out differently: read it with care"
        )
        again = "The step was run again from the state before it; the loss"
        blocks.append(Text(f"{again} {same}.", faint=True))
    return Section("first-bad", "The first invalid value", tuple(blocks))


def _ramp(case: Postmortem) -> Section | None:
    if len(case.ramp) < 2:
        return None
    before = case.history.bad is not None
    title = "The steps before it" if before else "The run at a glance"
    return Section("ramp", title, (ramp_table(case.ramp),))


def _further(case: Postmortem) -> Section | None:
    if not case.further:
        return None
    blocks: list[Block] = [Text("Independent of the verdict: each needs its own fix.", faint=True)]
    for each in case.further:
        blocks += _finding(case, each)
    return Section("further", "Further causes", tuple(blocks))


def _asides(case: Postmortem) -> Section | None:
    """What may be meant so: the run learned with it."""
    if not case.diagnosis.asides:
        return None
    blocks: list[Block] = [Text("The run learned with it, so it may be meant so.", faint=True)]
    for each in case.diagnosis.asides:
        facts = [f"`{each.rule}`: {each.title}", line(each.where)]
        blocks.append(Text(", ".join(fact for fact in facts if fact)))
        blocks.append(Items((*each.evidence, *([f"if it is not: {each.fix}"] if each.fix else ()))))
    return Section("asides", "Worth a look", tuple(blocks))


def _parameters(case: Postmortem) -> Section | None:
    table = parameters_table(case.case, case.history.bad)
    if table is None:
        return None
    return Section("parameters", "Parameters", (Fold(table.caption, (table,)),))


def _ruled_out(case: Postmortem, full: bool) -> Section | None:
    found = case.diagnosis.ruled_out
    if not found:
        return None
    rules_of: dict[str, list[str]] = {}  # the same measurement may clear several
    for rule, measured in found:
        rules_of.setdefault(measured, []).append(f"`{rule}`")
    items = [f"{', '.join(names)}: {measured}" for measured, names in rules_of.items()]
    if full or len(items) <= _RULED_OUT + 1:
        return Section("ruled-out", "Ruled out", (Items(tuple(items)),))
    rest = f"and {len(items) - _RULED_OUT} more: see the HTML, Markdown or JSON report"
    return Section(
        "ruled-out", "Ruled out", (Items(tuple(items[:_RULED_OUT])), Text(rest, faint=True))
    )


def _reproduce(case: Postmortem) -> Section:
    run, verdict = case.run, case.diagnosis.verdict
    blocks: list[Block] = []
    if run.script is not None:
        command = shlex.join(["whygrad", "doctor", path(run.script), *run.arguments])
        blocks.append(Code((CodeLine(command),)))
    lines = []
    if run.seed is not None and run.engine is not None:
        setting = f"{run.engine.name}.manual_seed({run.seed})"
        lines.append(f"seed: `{setting}` before the first random number is drawn")
    moments = {
        "the verdict": None if verdict is None else verdict.step,
        "the first invalid value": case.history.bad,
    }
    steps = {step: what for what, step in reversed(moments.items()) if step is not None}
    for step, what in sorted(steps.items()):
        lines.append(f"{what}: step {step}, counted from 0{_passes(case, step)}")
    blocks.append(Items(tuple(lines)))
    return Section("reproduce", "Reproduce", tuple(blocks))


def _passes(case: Postmortem, step: int) -> str:
    """Which passes a step was made of, if several."""
    for course in case.case.courses[:1]:
        if step < len(course.steps) and len(course.steps[step].passes) > 1:
            numbers = [each.number for each in course.steps[step].passes]
            return f": backward() calls {numbers[0]} to {numbers[-1]}"
    return ""


def _remarks(case: Postmortem) -> Section | None:
    sick = not case.diagnosis.healthy
    items = list(case.diagnosis.notes) if sick else []
    items += [f"`{rule}` could not be judged: {why}" for rule, why in case.diagnosis.failures]
    if sick and case.diagnosis.unasked:
        items.append(f"stopped before {count(len(case.diagnosis.unasked), 'rule')} could be asked")
    stop = case.run.stopped
    if stop is not None:
        items.append(
            f"watching was stopped at {line(stop.where)}: the call of `{stop.op}` failed only "
            f"while watched: {stop.error}; it was made again and the program went on without the "
            "doctor"
        )
    return Section("remarks", "Remarks", (Items(tuple(items)),)) if items else None
