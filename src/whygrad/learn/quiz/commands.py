"""What ``whygrad quiz`` does, one function for each thing it can do."""

from __future__ import annotations

import contextlib
import io
import json
import secrets
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from whygrad.learn.content import Quiz, quizzes
from whygrad.learn.language import Language, chosen
from whygrad.learn.markup import to_plain, to_terminal
from whygrad.learn.quiz import report
from whygrad.learn.quiz.asking import Asker
from whygrad.learn.quiz.progress import QuizProgress, Run
from whygrad.learn.quiz.reading import cleaned
from whygrad.learn.quiz.record import quizzes_record, results_record
from whygrad.learn.quiz.running import run_programs
from whygrad.learn.quiz.showing import QuestionScreen
from whygrad.learn.quiz.words import Speech
from whygrad.learn.writing import write

__all__ = ["any_seed", "ask", "chosen_quizzes", "export", "show_list", "show_results", "write_json"]


def chosen_quizzes(
    number: str | None, question: str | None, language: Language
) -> tuple[Quiz, ...]:
    """The quiz with a number (``07``, ``7``, ``module`` or its id), that of a question, or all."""
    known, say = quizzes(), Speech(language)
    if number is not None:
        wanted = number.lower()
        wanted = wanted.zfill(2) if wanted.isdecimal() else wanted
        known = tuple(quiz for quiz in known if wanted in (quiz.number, quiz.id))
        if not known:
            there = ", ".join(quiz.number for quiz in quizzes())
            raise click.UsageError(say("no_quiz", name=number, quizzes=there))
    if question is not None:
        names = [each.id for quiz in known for each in quiz.questions]
        known = tuple(quiz for quiz in known if any(each.id == question for each in quiz.questions))
        if not known:
            close = ", ".join(get_close_matches(question, names, n=3)) or ", ".join(names[:3])
            raise click.UsageError(say("no_question", name=question, close=close))
    return known


def any_seed() -> str:
    return secrets.token_hex(4)


def ask(
    quiz: Quiz,
    lang: str | None,
    *,
    wrong: bool = False,
    question: str | None = None,
    restart: bool = False,
    seed: str | None = None,
) -> int:
    """Ask a quiz in the language asked for; else a run that was left goes on in its own.

    The exit code is 130 after Ctrl-C, as of other programs.
    """
    console, progress = Console(highlight=False), QuizProgress()
    run = _run(quiz, progress, chosen(lang), wrong=wrong, question=question, restart=restart)
    say = Speech(chosen(lang or run.language))
    if not run.questions:
        report.show_nothing_missed(console, say, progress.standing(quiz))
        return 0
    console.rule(Text(to_plain(say.of(quiz.title)), "bold"))
    if run.answers:
        text = say(
            "continued",
            done=len(run.settled()),
            total=len(run.questions),
            command=say.command(f"quiz {quiz.number} --restart"),
        )
        console.print(to_terminal(text))
    elif run.whole:
        console.print(to_terminal(say.of(quiz.about)))
    asker = Asker(
        QuestionScreen(console, say), _read, progress, seed=seed, pause=_prepared_for_a_person()
    )
    asked = [each for each in quiz.questions if each.id in run.questions]
    ending = asker.ask_all(run, asked)
    report.show_end(console, say, quiz, run, ending, progress.standing(quiz))
    return 130 if ending == "interrupt" else 0


def _run(
    quiz: Quiz,
    progress: QuizProgress,
    language: Language,
    *,
    wrong: bool,
    question: str | None,
    restart: bool,
) -> Run:
    """What is to be asked: some questions, the rest of a run that was left, or everything."""
    standing = progress.standing(quiz)
    if question is not None:
        return progress.begin(quiz, [question], whole=False, language=language)
    if wrong:
        return progress.begin(quiz, standing.missed, whole=False, language=language)
    left = standing.unfinished
    if left and not restart:
        return left
    return progress.begin(quiz, [each.id for each in quiz.questions], whole=True, language=language)


def _read(prompt: str) -> str:
    line = input(prompt)
    if not sys.stdin.isatty():  # nobody has seen it yet
        print(cleaned(line))
    return line


def _prepared_for_a_person() -> bool:
    """Whether somebody sits at a keyboard; makes the input forgiving either way."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    with contextlib.suppress(ImportError):  # not on every system
        import readline  # noqa: F401  -- gives `input` the arrow keys
    return True


def show_list(known: Sequence[Quiz], language: Language) -> None:
    standings = QuizProgress().standings(known)
    report.show_list(Console(highlight=False), Speech(language), standings)


def show_results(known: Sequence[Quiz], language: Language) -> None:
    standings = QuizProgress().standings(known)
    report.show_results(Console(highlight=False), Speech(language), standings)


def write_json(known: Sequence[Quiz], language: Language, target: str, *, results: bool) -> None:
    """Questions with answers, or the learner's results, to a file or (``-``) to the terminal."""
    if results:
        record = results_record(QuizProgress().standings(known))
    else:
        run_programs(known, Speech(language))
        record = quizzes_record(known)
    text = json.dumps(record, ensure_ascii=False, indent=2) + "\n"
    if target == "-":
        click.echo(_encoded(text), nl=False)  # whatever the terminal's own encoding is
    else:
        _write(target, text, language)


def export(known: Sequence[Quiz], language: Language, target: str) -> None:
    """A page to read or to answer in a browser; the ending of the name says which."""
    ending = Path(target).suffix.lower()
    if ending in (".md", ".markdown"):
        from whygrad.learn.quiz.export_markdown import markdown_page as page
    elif ending in (".html", ".htm"):
        from whygrad.learn.quiz.export_html import html_page as page
    else:
        raise click.UsageError(Speech(language)("bad_ending", path=target))
    say = Speech(language)
    run_programs(known, say)
    _write(target, page(known, say), language)


def _write(target: str, text: str, language: Language) -> None:
    write(Path(target), _encoded(text))
    click.echo(Speech(language)("written", path=target))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")  # a log edited by hand may hold half a character
