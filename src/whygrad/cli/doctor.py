"""``whygrad doctor script.py``: run a training program and say what is wrong with it.

The program comes first: its output, its traceback and its exit code are what they would be without
the doctor.  The report goes to stderr afterwards, so that a pipe gets what the program printed.
"""

from __future__ import annotations

import contextlib
import os
import sys
import textwrap
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import IO

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from whygrad.cli.last_state import kept, recover
from whygrad.cli.signals import reporting
from whygrad.doctor import report
from whygrad.doctor.rules import load as load_rules
from whygrad.doctor.rules.rule import Rule, changed, rules
from whygrad.doctor.script import Outcome, run_program
from whygrad.doctor.session import Session
from whygrad.doctor.source.program import Program, load_module, load_script
from whygrad.doctor.verdict import Diagnosis
from whygrad.doctor.verdict.order import explained
from whygrad.errors import explained as told_already
from whygrad.files.atomic import replacing

__all__ = ["explain_rule", "list_rules", "recovered", "run"]

_LAST_WORDS = 3.0  # seconds for running steps again, of the ten or thirty that a scheduler gives
_SEVERITY = {3: "ends training", 2: "spoils the result", 1: "costs quality"}


class _Refused(click.ClickException):
    """Something is wrong with the command; nothing was run and nothing was written."""

    exit_code = 2


def run(
    program: str,
    arguments: Sequence[str],
    *,
    is_module: bool = False,
    files: Mapping[str, str | None] | None = None,
    ignore: Sequence[str] = (),
    thresholds: Sequence[str] = (),
    sick_exit: bool = False,
    budget: float | None = None,
    memory: float | None = None,
) -> int:
    """Run a program, report on stderr and into ``files`` (by format); returns the exit code."""
    load_rules()
    for name in ignore:
        _known(name)
    limits = [_threshold(each) for each in thresholds]
    loaded = _loaded(program, is_module)
    targets = _targets(files or {}, loaded)
    stderr, process = sys.stderr, os.getpid()
    sessions: list[Session] = []

    def killed(cause: str) -> None:
        with _fresh(stderr) as stream:
            _write(sessions[0].cut_short(cause, _LAST_WORDS), targets, stream)
        state.close()

    def begun(session: Session) -> None:
        sessions.append(session)
        state.enter_context(kept(session))

    with _limits(limits), reporting(killed) as ending, ExitStack() as state:
        how = frozenset(ignore), budget, memory, begun
        outcome = run_program(loaded, arguments, *how)
        if os.getpid() != process:  # a copy that the program forked: one report is enough
            return outcome.exit_code
        try:
            _let_it_end(outcome)
            ending.examining = True
            return _reported(outcome, targets, stderr, sick_exit)
        except KeyboardInterrupt:
            print("whygrad doctor: interrupted, no report", file=stderr)
            return 130
        finally:
            ending.die()


def _loaded(program: str, is_module: bool) -> Program:
    try:
        return load_module(program) if is_module else load_script(program)
    except SyntaxError as error:
        refused = click.ClickException("the program is not valid Python, so nothing was run")
        click.echo("".join(traceback.format_exception_only(error)), nl=False, err=True)
        raise refused from None
    except Exception as error:
        if not told_already(error):
            raise
        raise _Refused(str(error)) from None


def _targets(files: Mapping[str, str | None], program: Program) -> dict[Path, str]:
    """Where each format goes; refused now rather than after hours of training."""
    found: dict[Path, str] = {}
    for format, name in files.items():
        if name is None:
            continue
        path = Path(name).absolute()
        folder = path.parent
        cause = None
        if path.is_dir():
            cause = "this is a folder"
        elif not folder.is_dir():
            cause = f"there is no folder {folder}"
        elif not os.access(folder, os.W_OK):
            cause = f"the folder {folder} cannot be written to"
        elif path in found:
            cause = f"the {found[path]} report goes there already"
        elif path.resolve() == Path(program.file).resolve():
            cause = "this is the program itself"
        if cause is not None:
            raise _Refused(f"--{format} {name}: {cause}")
        found[path] = format
    return found


def _let_it_end(outcome: Outcome) -> None:
    """What Python does after the last line: show the exception, wait for threads."""
    sys.modules["__main__"] = outcome.main  # threads and atexit functions look things up there
    error = outcome.error
    if error is not None:
        sys.excepthook(type(error), error, error.__traceback__)
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    with contextlib.suppress(OSError, ValueError):  # closed, or nobody reads any more
        sys.stdout.flush()


def _reported(
    outcome: Outcome, targets: Mapping[Path, str], stderr: IO[str], sick_exit: bool
) -> int:
    with _progress(stderr) as asked:
        diagnosis = outcome.session.examine(asked)
    written = _write(diagnosis, targets, stderr)
    code = outcome.exit_code or int(not written)
    return code or int(sick_exit and not (diagnosis.healthy or diagnosis.suspected))


def _write(diagnosis: Diagnosis, targets: Mapping[Path, str], stderr: IO[str]) -> bool:
    """Report, and say whether all files could be written."""
    report.show(diagnosis, file=stderr)
    written = True
    for path, format in targets.items():
        try:
            with replacing(path) as partial:
                partial.write_text(report.render(diagnosis, format), encoding="utf-8")
        except OSError as error:
            print(f"whygrad doctor: {path} was not written: {error}", file=stderr)
            written = False
    return written


@contextmanager
def _fresh(stderr: IO[str]) -> Iterator[IO[str]]:
    """Another way to where ``stderr`` goes: a signal may have come amid a write to it."""
    try:
        copy = os.dup(stderr.fileno())
    except (OSError, ValueError):
        yield stderr
        return
    with open(copy, "w", encoding=getattr(stderr, "encoding", None), errors="replace") as stream:
        yield stream


@contextmanager
def _progress(stderr: IO[str]) -> Iterator[Callable[[int, int], None] | None]:
    """A line that says how far the examination is, for who looks at a terminal."""
    if not stderr.isatty():
        yield None
        return
    with Console(file=stderr).status("examining …") as status:
        yield lambda place, of: status.update(f"examining ({place + 1} of {of} questions) …")


def recovered(console: Console, name: str) -> None:
    """Tell what is left of a program that ended without a word."""
    try:
        recover(console, name)
    except Exception as error:
        if not told_already(error):
            raise
        raise _Refused(str(error)) from None


# --- rules ----------------------------------------------------------------------------------------


def list_rules(console: Console) -> None:
    """Every rule in a line, the gravest first."""
    load_rules()
    grid = Table("rule", "what it finds", "what it does", box=None, pad_edge=False)
    for rule in sorted(rules.values(), key=lambda each: (-each.severity, each.id)):
        grid.add_row(rule.id, escape(rule.title), _SEVERITY[rule.severity], style=None)
    console.print(grid)


def explain_rule(console: Console, name: str) -> None:
    """A rule's page."""
    load_rules()
    rule = _known(name)
    console.print(f"[bold]{rule.id}[/bold]: {escape(rule.title)}, {_SEVERITY[rule.severity]}\n")
    console.print(escape(rule.meaning), "\n")
    limits = "\n".join(
        f"{name} = {value:g}" + (f": {why}" if (why := rule.reasons.get(name)) else "")
        for name, value in rule.thresholds.items()
    )
    for label, text in (
        ("measured", rule.measured),
        ("thresholds", limits),
        ("fix", rule.fix),
        ("guardrail", rule.guardrail),
        ("explains", ", ".join(explained(rule))),
    ):
        if text:
            console.print(f"[bold]{label}[/bold]")
            console.print(escape(textwrap.indent(textwrap.dedent(text).strip(), "  ")))


def _known(name: str) -> Rule:
    if name in rules:
        return rules[name]
    close = get_close_matches(name, rules, n=3)
    hint = f"did you mean {', '.join(close)}?" if close else "--list-rules prints them all"
    raise _Refused(f"there is no rule {name!r}; {hint}")


def _threshold(text: str) -> tuple[Rule, str, float]:
    """``dead-relu.dead=0.8`` as rule, name and value."""
    place, _, number = text.partition("=")
    name, _, limit = place.partition(".")
    try:
        value = float(number)
    except ValueError:
        raise _Refused(f"--threshold {text}: write rule.name=number") from None
    rule = _known(name)
    try:
        changed(rule, **{limit: value})
    except ValueError as error:
        raise _Refused(str(error)) from None
    return rule, limit, value


@contextmanager
def _limits(wanted: Sequence[tuple[Rule, str, float]]) -> Iterator[None]:
    """The rules with other thresholds, for the time of one run."""
    before = dict(rules)
    try:
        for rule, name, value in wanted:
            rules[rule.id] = changed(rules[rule.id], **{name: value})
        yield
    finally:
        rules.clear()
        rules.update(before)
