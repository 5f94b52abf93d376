"""Grades a postmortem against what the broken script does when it runs, and the repair likewise."""

from __future__ import annotations

import ast
import importlib.util
import math
import runpy
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from whygrad.learn.lab import Bench, Check, Wrong

__all__ = ["FAULTS", "grade"]

_FEWEST_WORDS = 8
_MOST_WORDS = 120  # of one section
_LONGEST = 20_000  # characters of postmortem.md
_MOST_CHANGES = 14  # lines of fixed.py that are not in train.py
_FALL = 0.25  # of the loss at the beginning


@dataclass(frozen=True)
class Fault:
    """What is wrong with one variant; a line is named by a part of it."""

    graph: str
    graph_lines: tuple[str, ...]
    numerical: str
    numerical_lines: tuple[str, ...]
    trigger: str = ""  # the line with the data that bring it out


FAULTS = {
    "orchard": Fault(
        "not-cleared", ("loss.backward()", "optimizer.step()", "for step in range"),
        "log-of-zero", ("whygrad.log(1 - p)",), "weight[3] = ",
    ),
    "harbour": Fault(
        "cut", (".detach()",), "overflow", ("whygrad.exp(scores)",), "signals[5] *= "
    ),
    "quarry": Fault(
        "not-updated", ("model[2] = ", "optim.Adam("),
        "zero-by-zero", ("centred / spread",), "x[:, 3] = ",
    ),
    "glacier": Fault(
        "cut", ("float(self.scale)",), "root-at-zero", (".sum(dim=1).sqrt()",), "other[3] = "
    ),
    "meadow": Fault(
        "cut", ("whygrad.no_grad()", "self.encoder(weather)"),
        "log-of-zero", ("whygrad.log(rate)", "whygrad.relu("),
    ),
    "lighthouse": Fault(
        "not-updated", ("self.layers = [",),
        "overflow", ("whygrad.exp(logits)",), "readings[::4] *= ",
    ),
}  # fmt: skip


def grade(bench: Bench) -> Iterator[Check]:
    case = _Case(bench)
    yield bench.check("facts", case.facts)
    yield bench.check("first", case.first)
    yield bench.check("handed-on", case.handed_on)
    yield bench.check("graph-cause", case.graph_cause)
    yield bench.check("numerical-cause", case.numerical_cause)
    yield bench.check("fixed", case.fixed)
    yield bench.check("graph-fixed", case.graph_fixed)
    yield bench.check("targeted", case.targeted)
    yield bench.check("guardrail", case.guardrail)
    yield bench.check("complete", case.complete)
    yield bench.check("exact", case.exact)


class _Case:
    """One learner's broken run: the script they were given and what they made of it."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.fault = FAULTS[bench.lab.variant]
        self.broken = bench.lab.starter(bench.language)["train.py"]

    @cached_property
    def _truth(self) -> Any:
        return _neighbour("tracing").truth_of(self.broken)

    @cached_property
    def _reference(self) -> Any:
        """What the reference repair does when it is watched."""
        watched = runpy.run_path(str(Path(__file__).with_name("probes.py")))["watched"]
        source = self.bench.lab.solution(self.bench.language)["fixed.py"]
        return watched(_neighbour("tracing").loaded(source))

    @cached_property
    def _repaired(self) -> Any:
        return self.bench.ask("observed", script="fixed")

    @cached_property
    def _text(self) -> str:
        text = self.bench.source("postmortem.md")
        if len(text) > _LONGEST:
            raise self._wrong("too_long", characters=len(text), most=_LONGEST)
        return text

    @cached_property
    def _facts(self) -> dict[str, dict[str, Any]]:
        report = _neighbour("report")
        try:
            facts: dict[str, dict[str, Any]] = report.facts_of(self._text)
        except report.Unreadable as trouble:
            raise self._wrong(trouble.key, **trouble.values) from None
        return facts

    @cached_property
    def _sections(self) -> dict[str, str]:
        report = _neighbour("report")
        headings = {
            words.casefold(): name
            for name in report.SECTIONS
            for words in self.bench.lab.texts[f"heading_{name}"].values()
        }
        sections: dict[str, str] = report.sections_of(self._text, headings)
        return sections

    def _wrong(self, key: str, **values: Any) -> Wrong:
        return Wrong(self.bench.say(key, **values))

    def _misplaced(self, key: str, **values: Any) -> Wrong:
        """A verdict on lines, which count in the script as it was given."""
        notes = []
        if _bare(self.bench.source("train.py")) != _bare(self.broken):
            notes.append(self.bench.say("script_changed"))
        return Wrong(self.bench.say(key, **values), notes=notes)

    def facts(self, bench: Bench) -> None:
        assert self._facts

    def first(self, bench: Bench) -> None:
        truth, yours = self._truth, self._facts["first_invalid"]
        step, line, operation = yours["step"], yours["line"], yours["operation"]
        if step > truth.first.step:
            raise self._misplaced("first_too_late", step=step)
        if step < truth.first.step:
            raise self._misplaced("first_too_early", step=step)
        if yours["pass"] != truth.direction:
            key = "first_not_forward" if truth.direction == "backward" else "first_not_backward"
            raise self._misplaced(key, step=step)
        if line != truth.first.line:
            spread = {place.line for place in truth.handed_on if place.step == step}
            key = "first_handed_on" if line in spread else "first_other_line"
            raise self._misplaced(key, step=step, line=line, text=self._line(line))
        if operation != truth.first.operation:
            raise self._misplaced("first_operation", line=line, operation=operation)
        if yours["value"] != truth.value:
            raise self._misplaced("first_value", value=yours["value"], operation=operation)

    def handed_on(self, bench: Bench) -> None:
        truth, yours = self._truth, self._facts["handed_on"]
        place = (yours["step"], yours["line"], yours["operation"])
        if place == (truth.first.step, truth.first.line, truth.first.operation):
            raise self._misplaced("handed_on_is_first")
        known = {(each.step, each.line, each.operation) for each in truth.handed_on}
        if place in known:
            return
        there = sorted(
            {each.operation for each in truth.ran if (each.step, each.line) == place[:2]}
        )
        if yours["operation"] in there:
            raise self._misplaced("handed_on_finite", **yours)
        if there:
            raise self._misplaced("handed_on_operation", **yours, operations=", ".join(there))
        raise self._misplaced("handed_on_nothing", **yours)

    def graph_cause(self, bench: Bench) -> None:
        self._cause("graph", self.fault.graph, self.fault.graph_lines)

    def numerical_cause(self, bench: Bench) -> None:
        self._cause("numerical", self.fault.numerical, self.fault.numerical_lines)

    def _cause(self, part: str, kind: str, parts: tuple[str, ...]) -> None:
        yours = self._facts[f"{part}_cause"]
        kinds = {getattr(each, part) for each in FAULTS.values()}
        if yours["kind"] not in kinds:
            raise self._misplaced(
                "unknown_kind", kind=yours["kind"], kinds=", ".join(sorted(kinds))
            )
        text = self._line(yours["line"])
        if self.fault.trigger and self.fault.trigger in text:
            raise self._misplaced("only_trigger", line=yours["line"], text=text)
        if yours["kind"] != kind:
            raise self._misplaced(f"{part}_kind", kind=yours["kind"])
        if not any(each in text for each in parts):
            raise self._misplaced(f"{part}_line", line=yours["line"], text=text)

    def fixed(self, bench: Bench) -> None:
        losses = self._repaired["losses"]
        steps = len(self._reference["losses"])
        if len(losses) != steps:
            raise self._wrong("guard_calls", calls=len(losses), steps=steps)
        for step, loss in enumerate(losses):
            if not math.isfinite(loss):
                raise self._wrong("still_invalid", step=step, loss=loss)
        start, end = sum(losses[:5]) / 5, sum(losses[-10:]) / 10
        if not end < start - _FALL * abs(start):
            raise self._wrong("not_falling", start=start, end=end)

    def graph_fixed(self, bench: Bench) -> None:
        seen = self._repaired
        message = bench.say("other_parameters")
        bench.same(self._reference["shapes"], seen["shapes"], message=message)
        if seen["without"]:
            raise self._wrong("without_gradient", names=", ".join(seen["without"]))
        if seen["unmoved"]:
            raise self._wrong("never_updated", names=", ".join(seen["unmoved"]))
        for step, norm in enumerate(seen["held"], start=1):
            if norm:
                raise self._wrong("still_held", step=step, norm=norm)

    def targeted(self, bench: Bench) -> None:
        yours = bench.source("fixed.py")
        _ = self._repaired  # a file that does not even run is no repair
        if _function(yours, "batch") != _function(self.broken, "batch"):
            raise self._wrong("other_data")
        before, after = Counter(_code(self.broken)), Counter(_code(yours))
        most = max((after - before).total(), (before - after).total())
        if most > _MOST_CHANGES:
            raise self._wrong("rewritten", changes=most, most=_MOST_CHANGES)
        if not most:
            raise self._wrong("unchanged")

    def guardrail(self, bench: Bench) -> None:
        given = bench.with_files({"train.py": self.broken})
        on_broken = given.ask("guarded", script="train")
        if not on_broken["stopped"]:
            raise self._wrong("guard_silent")
        step, latest = on_broken["steps"] - 1, self._truth.first.step
        if step > latest:
            raise self._wrong("guard_late", step=step, latest=latest)
        if not on_broken["message"].strip():
            raise self._wrong("guard_speechless", kind=on_broken["kind"])
        on_fixed = bench.ask("guarded", script="fixed")
        if on_fixed["stopped"]:
            words = on_fixed["message"] or on_fixed["kind"]
            raise self._wrong("guard_overzealous", step=on_fixed["steps"] - 1, words=words)

    def complete(self, bench: Bench) -> None:
        report = _neighbour("report")
        for name in report.SECTIONS:
            text = self._sections.get(name, "")
            title = bench.say(f"heading_{name}")
            words = len(text.split())
            if words < _FEWEST_WORDS:
                raise self._wrong("section_short", title=title, words=words, fewest=_FEWEST_WORDS)
            if words > _MOST_WORDS:
                raise self._wrong("section_long", title=title, words=words, most=_MOST_WORDS)
        facts, first = self._facts, self._facts["first_invalid"]
        causes = [facts["graph_cause"]["line"], facts["numerical_cause"]["line"]]
        for name, wanted in (("spread", [first["step"], first["line"]]), ("causes", causes)):
            numbers = report.numbers_in(self._sections[name])
            if missing := [each for each in wanted if each not in numbers]:
                title = bench.say(f"heading_{name}")
                raise self._wrong("number_missing", title=title, number=missing[0])
        for name, fewest in (("symptoms", 1), ("measurements", 3)):
            count = len(report.numbers_in(self._sections[name]))
            if count < fewest:
                title = bench.say(f"heading_{name}")
                raise self._wrong("few_numbers", title=title, count=count, fewest=fewest)

    def exact(self, bench: Bench) -> None:
        report = _neighbour("report")
        if not self._sections.get("causes"):
            raise self._wrong("nothing_said", title=bench.say("heading_causes"))
        for name in report.SECTIONS:
            vague = report.vague_in(self._sections.get(name, ""))
            if vague is not None:
                title = bench.say(f"heading_{name}")
                notes = [f"{title}: {vague.sentence[:200]}"]
                raise Wrong(bench.say("vague", phrase=vague.phrase), notes=notes)

    def _line(self, line: int) -> str:
        lines = self.broken.splitlines()
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def _neighbour(name: str) -> ModuleType:
    """A module beside this one, which is in no package."""
    known = f"whygrad_lab_postmortem_{name}"
    if known not in sys.modules:
        path = Path(__file__).with_name(f"{name}.py")
        spec = importlib.util.spec_from_file_location(known, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[known] = module  # dataclasses look their module up
        spec.loader.exec_module(module)
    return sys.modules[known]


def _bare(source: str) -> list[str]:
    """The lines without comments and without the docstring, which have two languages."""
    lines = (line.partition("#")[0].rstrip() for line in source.rstrip().splitlines())
    return ["" if line.startswith('"""') else line for line in lines]


def _code(source: str) -> list[str]:
    """The lines that do something, wherever they stand."""
    return [line.strip() for line in _bare(source) if line]


def _function(source: str, name: str) -> str:
    tree = ast.parse(source)
    found = (each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name == name)
    return "".join(map(ast.dump, found))
