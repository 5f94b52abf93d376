"""Verdicts and lists in the terminal.

Texts of the learner's program are shown as they are: never as rich's markup, and without the
characters that command a terminal.
"""

from __future__ import annotations

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
from whygrad.learn.lab.compare import shown
from whygrad.learn.lab.grading import Report
from whygrad.learn.lab.troubles import harmless
from whygrad.learn.language import Language
from whygrad.learn.markup import to_terminal
from whygrad.learn.references import command_for

__all__ = ["show_check", "show_hints", "show_labs", "show_report_end", "show_solution"]

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
    fresh = [lab.name for lab in labs() if progress.of(lab).state == "new"]
    if fresh:
        console.print("\n" + words["how_to_start"].format(name=fresh[0]), highlight=False)


def show_check(console: Console, check: Check, lab: Lab, language: Language, failed: int) -> None:
    """One verdict; ``failed`` counts the failing ones before it."""
    sign, style = ("✓", "green") if check.passed else ("✗", "red")
    title = Text(f" {sign} ", f"bold {style}").append(lab.checks[check.id][language], "not bold")
    console.print(title.append(f"  [{check.id}]", "not bold dim") if not check.passed else title)
    if not check.passed and failed < _DETAILED:
        for line in _details(check, language):
            console.print(Padding(line, (0, 0, 0, 5), expand=False))
        if check.example:
            console.print(Text(f"     {phrases('lab', language)['example']}:\n", "dim"))
            console.print(Text(check.example), soft_wrap=True)  # from the margin on, to be pasted
        console.print()


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
        lines.append(_worst(check, language, width))
    if check.printed.strip():
        printed = harmless(check.printed).strip().split("\n")
        lines.append(Text(f"{words['printed']}:", "dim"))
        lines += [Text(f"  {line[:200]}") for line in printed[-_PRINTED_LINES:]]
    return lines


def _worst(check: Check, language: Language, width: int) -> Text:
    words = phrases("lab", language)
    difference = check.difference
    assert difference is not None
    sides = [shown(difference.target), shown(difference.yours)]
    if sides[0] == sides[1]:  # they differ in the last digits
        sides = [repr(difference.target), repr(difference.yours)]
    place = difference.place or words["whole"]
    text = words["worst_at"].format(place=place, target=sides[0], yours=harmless(sides[1]))
    if difference.difference is not None:
        text += ", " + words["off_by"].format(difference=f"{difference.difference:.6g}")
    return Text(f"{words['worst']:<{width}}  ", "dim").append(text, "yellow")


def show_report_end(console: Console, report: Report) -> None:
    """How many pass, and what to do next."""
    words = phrases("lab", report.language)
    count = len(report.checks)
    passed = sum(check.passed for check in report.checks)
    console.print()
    if report.passed:
        message = words["all_passed"].format(count=count, name=report.lab.name)
        console.print(Text(message, "bold green"))
        return
    if count - passed > _DETAILED:
        console.print(Text(words["details_first"], "dim"))
    console.print(Text(words["some_passed"].format(passed=passed, count=count), "bold"))
    console.print(Text(words["seed_shown"].format(seed=report.seed), "dim"))


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
    see = [words["see_also"], *(f"  {command_for(each)}" for each in lab.see)]
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
