"""Verdicts and lists in the terminal.

Texts of the learner's program are shown as they are: never as rich's markup, and without the
characters that command a terminal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from whygrad.learn.content import phrases
from whygrad.learn.lab import progress
from whygrad.learn.lab.bench import Check
from whygrad.learn.lab.catalogue import Lab, labs
from whygrad.learn.lab.compare import is_single, shown
from whygrad.learn.lab.grading import Report
from whygrad.learn.lab.places import command, next_steps, starting
from whygrad.learn.lab.troubles import BLOCKING, harmless
from whygrad.learn.lab.workspace import Workspace
from whygrad.learn.language import Language
from whygrad.learn.markup import to_terminal
from whygrad.learn.references import command_for

__all__ = ["GradingScreen", "show_hints", "show_labs", "show_solution"]

_DETAILED = 2  # failing checks that are explained; more would only bury the first
_PRINTED_LINES = 8
_STATES = {"new": "dim", "started": "yellow", "passed": "green"}


def show_labs(console: Console, language: Language) -> None:
    """All labs, with the learner's state in each."""
    words = phrases("lab", language)
    table = Table("", words["labs"], "", words["state"], box=None, header_style="bold")
    for lab in labs():
        state = progress.of(lab).state
        about = Text(lab.title[language], "bold").append(f"\n{lab.about[language]}", "not bold")
        about.append(f" ({words['minutes'].format(minutes=lab.minutes)})", "not bold dim")
        table.add_row(
            str(lab.number), lab.name, about, Text(words[f"state_{state}"], _STATES[state])
        )
    console.print(table)
    fresh = [lab for lab in labs() if progress.of(lab).state == "new"]
    if fresh:
        console.print(
            "\n" + words["how_to_start"].format(command=starting(fresh[0], language)),
            highlight=False,
        )


class GradingScreen:
    """One grading, verdict by verdict: details of the first failures, what blocks all only once."""

    def __init__(self, console: Console, work: Workspace) -> None:
        self.console = console
        self.work = work
        self.words = phrases("lab", work.language)
        self._failed = 0
        self._decided = False  # what fails now fails for a reason that has been told
        self._blocks: Counter[str] = Counter()  # by message

    def title(self) -> None:
        lab, language = self.work.lab, self.work.language
        title = self.words["grading"].format(number=lab.number, title=lab.title[language])
        self.console.print(f"\n[bold]{title}[/bold]\n", highlight=False)

    def check(self, check: Check) -> None:
        """One verdict."""
        language = self.work.language
        if check.kind in BLOCKING:
            self._blocks[check.message] += 1
            if self._blocks[check.message] > 1:
                return
        sign, style = ("✓", "green") if check.passed else ("✗", "red")
        line = Text(f" {sign} ", f"bold {style}")
        line.append(self.work.lab.checks[check.id][language], "not bold")
        if not check.passed:
            line.append(f"  [{check.id}]", "not bold dim")
        self.console.print(line)
        if not check.passed and not self._decided and self._failed < _DETAILED:
            self._explain(check)
        self._failed += not check.passed
        self._decided = self._decided or check.decisive

    def blocked(self, check: Check) -> None:
        """Why there is nothing to hint at yet."""
        self._explain(check)
        self._line(self.words["hint_not_spent"])

    def _explain(self, check: Check) -> None:
        lines = _details(check, self.work.language)
        if check.kind == "missing":
            lines.append(Text(self.words["put_back"].format(command=command(self.work, "start"))))
        for each in lines:
            self.console.print(Padding(each, (0, 0, 0, 5), expand=False))
        if check.example:
            self.console.print(Text(f"     {self.words['example']}:\n", "dim"))
            # from the margin on, to be pasted
            self.console.print(Text(check.example), soft_wrap=True)
        self.console.print()

    def end(self, report: Report) -> None:
        """How many pass, and what to do next."""
        count = len(report.checks)
        passed = sum(check.passed for check in report.checks)
        self.console.print()
        if report.passed:
            self._end_well(count)
            return
        silent = sum(self._blocks.values()) - len(self._blocks)
        if silent:
            self._line(self.words["not_run"].format(count=silent), "dim")
        elif count - passed > (1 if self._decided else _DETAILED):
            self._line(self.words["details_first"], "dim")
        self._line(self.words["some_passed"].format(passed=passed, count=count), "bold")
        first = next(check for check in report.checks if not check.passed)
        if first.kind not in BLOCKING:
            self._line(self.words["stuck"].format(command=command(self.work, "hint")), "bold")
            again = command(self.work, "check", "--seed", str(report.seed))
            self._line(self.words["seed_shown"].format(seed=report.seed, command=again), "dim")

    def _end_well(self, count: int) -> None:
        self._line(self.words["all_passed"].format(count=count), "bold green")
        after, quiz = next_steps(self.work.lab, self.work.language)
        steps = {
            "step_solution": command(self.work, "solution"),
            "step_quiz": quiz,
            "step_lab": after,
        }
        for key, step in steps.items():
            if step is not None:
                self._line(self.words[key].format(command=step))

    def _line(self, text: str, style: str = "") -> None:
        self.console.print(Text(text, style))


def _details(check: Check, language: Language) -> list[Text]:
    words = phrases("lab", language)
    lines = [Text(harmless(check.message))]
    if check.where:
        lines.append(Text(harmless(check.where), "cyan"))
    lines += [Text(part, "cyan") for note in check.notes for part in harmless(note).split("\n")]
    if check.compared:
        labels = [words["target"], words["yours"]]
        width = max(map(len, (*labels, words["worst"])))
        for label, value in zip(labels, (check.target, check.yours)):
            lines.append(Text(f"{label:<{width}}  ", "dim").append(harmless(shown(value)), "none"))
        lines += _worst(check, language, width)
    if check.printed.strip():
        printed = harmless(check.printed).strip().split("\n")
        lines.append(Text(f"{words['printed']}:", "dim"))
        lines += [Text(f"  {line[:200]}") for line in printed[-_PRINTED_LINES:]]
    return lines


def _worst(check: Check, language: Language, width: int) -> list[Text]:
    """The worst element; of a single one, what the lines above it do not say."""
    words = phrases("lab", language)
    difference = check.difference
    assert difference is not None
    sides = [shown(difference.target), shown(difference.yours)]
    alike = sides[0] == sides[1]  # they differ in the last digits
    if alike:
        sides = [repr(difference.target), repr(difference.yours)]
    place = difference.place or words["whole"]
    text = words["worst_at"].format(place=place, target=sides[0], yours=harmless(sides[1]))
    off = ""
    if difference.difference is not None:
        off = words["off_by"].format(difference=f"{difference.difference:.6g}")
    if is_single(check.target) and not alike:
        return [Text(" " * (width + 2)).append(off, "yellow")] if off else []
    text += f", {off}" if off else ""
    return [Text(f"{words['worst']:<{width}}  ", "dim").append(text, "yellow")]


def show_hints(
    console: Console, lab: Lab, check: str, numbers: Sequence[int], language: Language
) -> None:
    """Hints of one check, by number from 1."""
    words = phrases("lab", language)
    hints = lab.hints[check]
    title = lab.checks[check][language]
    for number in numbers:
        line = words["hint_title"].format(number=number, count=len(hints), check=title)
        console.print(Text(line, "bold"))
        console.print(to_terminal(hints[number - 1][language]))
        console.print()


def show_solution(console: Console, lab: Lab, language: Language) -> None:
    """The reference solution, and where to read on; never cropped or wrapped, so it can be kept.

    Into a file or a pipe everything but the code goes as comments.
    """
    words = phrases("lab", language)
    see = [words["see_also"], *(f"  {command_for(each, language)}" for each in lab.see)]
    for name, text in lab.solution(language).items():
        if console.is_terminal:
            console.rule(name)
            lexer = "python" if Path(name).suffix == ".py" else "text"
            code = Syntax("", lexer, theme="ansi_dark", background_color="default")
            console.print(code.highlight(text), soft_wrap=True)
        else:
            click.echo(f"# {name}\n{text}")
    if console.is_terminal:
        console.rule()
        console.print(*see, sep="\n", highlight=False, soft_wrap=True)
    else:
        click.echo("".join(f"# {line}\n" for line in see), nl=False)
