"""The suite of runs: scripts that are broken in one known way, and scripts that are well.

``python -m tests.doctor.suite`` runs them through the doctor and prints what it said about each;
``--half tuning``, ``--only dead-relu``, ``--engine whygrad``, ``--healthy`` narrow it down, and
``--table`` writes the tables of docs/doctor/suite.md; it exits with 1 if anything but the known
misses is not as it should be.  A broken script marks its fault with
``# expect: rule`` at the end of the line; ``# also: rule`` is a second fault of its own.

The scripts in ``tuning`` were looked at while rules were written; those in ``held_out`` and
``fresh`` were not until the doctor had been measured on them (docs/doctor/suite.md).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import random
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from tests.test_scripts import one_thread_and_defaults, swapped

__all__ = ["ENGINES", "MISSED", "RUNS", "Result", "Script", "examine", "main", "scripts"]

RUNS = Path(__file__).parent / "runs"
ENGINES = ("torch", "whygrad")
HALVES = ("tuning", "held_out", "fresh")
# Scripts whose fault is known not to be found, and why.
MISSED = {
    "under-trained-few-epochs": "its curve is that of a healthy short run",
}
DOCUMENT = Path(__file__).parents[2] / "docs" / "doctor" / "suite.md"
_BEGIN = "<!-- written by python -m tests.doctor.suite --table -->"
_MARKER = re.compile(r"#\s*(expect|also):\s*([a-z0-9-]+)")


@dataclass(frozen=True)
class Script:
    """One script and what is known about it."""

    path: Path
    engine: str  # the one it runs with: where it says nothing, each
    expected: str | None
    lines: frozenset[int]
    also: dict[str, frozenset[int]] = field(default_factory=dict, hash=False)

    @property
    def half(self) -> str:
        """A folder above that of its kind; the few scripts beside the folders are in every half."""
        return self.path.parents[1].name if self.path.parent != RUNS else RUNS.name

    @property
    def name(self) -> str:
        return f"{self.path.stem}-{self.engine}"


@dataclass
class Result:
    """What the doctor said about a script."""

    script: Script
    verdict: str | None
    line: int | None
    causes: list[str]
    symptoms: list[str]
    lines: dict[str, int | None]
    failures: list[tuple[str, str]]
    seconds: float

    @property
    def rule_right(self) -> bool:
        return self.verdict == self.script.expected

    @property
    def line_right(self) -> bool:
        return self.rule_right and (not self.script.lines or self.line in self.script.lines)

    @property
    def others_right(self) -> bool:
        """Whether each further fault was found as a cause of its own."""
        return all(each in self.causes for each in self.script.also)

    @property
    def right(self) -> bool:
        """As it should be in every respect, no rule has failed; or a miss that is known."""
        found = self.line_right and self.others_right and not self.failures
        return found or self.script.path.stem in MISSED


def scripts(engines: tuple[str, ...] = ENGINES) -> Iterator[Script]:
    """Every script with every engine that it runs with."""
    for path in sorted(RUNS.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        only = re.search(r"^# engine: (\w+)$", text, re.MULTILINE)
        found: dict[str, dict[str, set[int]]] = {"expect": {}, "also": {}}
        for number, line in enumerate(text.splitlines(), 1):
            for kind, rule in _MARKER.findall(line):
                found[kind].setdefault(rule, set()).add(number)
        expected = next(iter(found["expect"]), None)
        also = {rule: frozenset(lines) for rule, lines in found["also"].items()}
        lines = frozenset(found["expect"].get(expected or "", ()))
        for engine in engines:
            if only is None or only.group(1) == engine:
                yield Script(path, engine, expected, lines, also)


def examine(script: Script, seed: int = 0) -> Result:
    """Run a script through the doctor, quietly; ``seed`` is for scripts that set none."""
    import torch

    import whygrad
    from whygrad.doctor import run_script

    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        text = script.path.read_text(encoding="utf-8")
        if script.engine == "whygrad":
            text = swapped(text)
        path = Path(folder) / script.path.name
        path.write_text(_MARKER.sub("#", text), encoding="utf-8")
        quiet = io.StringIO()
        with (
            one_thread_and_defaults(),
            contextlib.redirect_stdout(quiet),
            contextlib.redirect_stderr(quiet),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")  # the script's own affair
            torch.manual_seed(seed)
            whygrad.manual_seed(seed)
            np.random.seed(seed)
            random.seed(seed)
            diagnosis = run_script(str(path)).diagnosis
        verdict = diagnosis.verdict
        lines = {
            each.rule: None if each.where is None else each.where.line
            for each in reversed(diagnosis.findings)
        }
        return Result(
            script,
            None if verdict is None else verdict.rule,
            None if verdict is None or verdict.where is None else verdict.where.line,
            [each.rule for each in diagnosis.causes],
            [each.rule for each in diagnosis.findings if each.caused_by is not None],
            lines,
            diagnosis.failures,
            time.perf_counter() - begun,
        )


def _line(result: Result) -> str:
    script = result.script
    right = result.line_right and result.others_right
    sign = "ok  " if right else ("line" if result.rule_right else "MISS")
    said = ", ".join(f"{each}:{result.lines.get(each)}" for each in result.causes) or "healthy"
    symptoms = f" (symptoms: {', '.join(result.symptoms)})" if result.symptoms else ""
    wanted = "" if right else f"  wanted {script.expected or 'healthy'} {sorted(script.lines)}"
    wanted += "" if right or not script.also else f" also {sorted(script.also)}"
    failed = "".join(f"\n       {rule} failed: {error}" for rule, error in result.failures)
    place = f"{script.half}/{script.name}"
    return f"{sign} {place}: {said}{symptoms}{wanted} {result.seconds:.1f}s{failed}"


def document(results: list[Result]) -> str:
    """The page with the tables; what stands above the marker in it is kept."""
    kept = DOCUMENT.read_text(encoding="utf-8").partition(_BEGIN)[0]
    head = ("half", "engine", "broken runs", "cause right", "line right", "healthy runs", "alarms")
    lines = [_BEGIN, "", f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    for half in HALVES:
        for engine in ENGINES:
            own = [each for each in results if each.script.engine == engine]
            own = [each for each in own if each.script.half in (half, "runs")]
            lines.append(f"| {half} | {engine} | {_tally(own)} |")
    lines.append(f"| all | both | {_tally(results)} |")
    lines += ["", "What was said instead, where the cause or the line was another:", ""]
    lines += ["| script | engine | the fault | the doctor's verdict |", "| --- | --- | --- | --- |"]
    for each in results:
        if not each.line_right:
            wanted = each.script.expected or "healthy"
            said = each.verdict or "healthy"
            said += f", line {each.line}" if each.rule_right else ""
            name = f"{each.script.half}/{each.script.path.stem}"
            lines.append(f"| {name} | {each.script.engine} | {wanted} | {said} |")
    lines += ["", "How often each rule was the verdict, by what was wrong:", ""]
    lines += ["| the fault | runs | found | called something else |", "| --- | --- | --- | --- |"]
    for rule in sorted({each.script.expected or "healthy" for each in results}):
        of = [each for each in results if (each.script.expected or "healthy") == rule]
        others = sorted({each.verdict or "healthy" for each in of if not each.rule_right})
        found = sum(each.rule_right for each in of)
        lines.append(f"| {rule} | {len(of)} | {found} | {', '.join(others)} |")
    return kept + "\n".join(lines) + "\n"


def _tally(results: list[Result]) -> str:
    broken = [each for each in results if each.script.expected]
    healthy = [each for each in results if not each.script.expected]
    causes, lines = sum(e.rule_right for e in broken), sum(e.line_right for e in broken)
    alarms = sum(not each.rule_right for each in healthy)
    shares = [f"{count} ({count / max(1, len(broken)):.0%})" for count in (causes, lines)]
    return " | ".join([str(len(broken)), *shares, str(len(healthy)), str(alarms)])


def _unknown_rules(chosen: list[Script]) -> Iterator[str]:
    """Rules that a script expects and nobody has written."""
    from whygrad.doctor.rules import load
    from whygrad.doctor.rules.rule import rules

    load()
    for path in dict.fromkeys(script.path for script in chosen):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for _, name in _MARKER.findall(line):
                if name not in rules:
                    like = get_close_matches(name, list(rules), n=1)
                    advice = f"; there is {like[0]}" if like else ""
                    yield f"{path.name}:{number}: no such rule: {name}{advice}"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.doctor.suite", description=__doc__)
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--engine", choices=ENGINES)
    parser.add_argument("--only", nargs="*", default=[], help="parts of file names")
    parser.add_argument("--healthy", action="store_true", help="only healthy scripts")
    parser.add_argument("--jobs", type=int, default=1, help="scripts at the same time")
    parser.add_argument("--table", action="store_true", help=f"write {DOCUMENT.name} anew")
    parser.add_argument("--seed", type=int, default=0, help="for scripts that set none")
    parser.add_argument("--broken", action="store_true", help="only broken scripts")
    options = parser.parse_args(arguments)
    chosen = []
    for script in scripts((options.engine,) if options.engine else ENGINES):
        wanted = options.half is None or script.half in (options.half, "runs")
        wanted &= not options.only or any(each in script.path.stem for each in options.only)
        wanted &= not (options.healthy and script.expected) and not (
            options.broken and not script.expected
        )
        if wanted:
            chosen.append(script)
    if not chosen:
        print("no script matches", " ".join(arguments))
        return 1
    if unknown := list(_unknown_rules(chosen)):
        print("\n".join(unknown))
        return 1
    results = []
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        for result in pool.map(partial(examine, seed=options.seed), chosen):
            results.append(result)
            print(_line(result), flush=True)
    if options.table:
        DOCUMENT.write_text(document(results), encoding="utf-8")
    broken = [each for each in results if each.script.expected]
    healthy = [each for each in results if not each.script.expected]
    print(
        f"\nbroken: cause right {sum(each.rule_right for each in broken)}/{len(broken)}, "
        f"line right {sum(each.line_right for each in broken)}/{len(broken)}; "
        f"healthy: alarms {sum(not each.rule_right for each in healthy)}/{len(healthy)}"
    )
    return 0 if all(each.right for each in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
