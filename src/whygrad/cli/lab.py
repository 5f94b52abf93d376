"""``whygrad lab``: start an exercise, have it graded, get a hint, see the solution."""

from __future__ import annotations

import contextlib
import json as json_format
import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from whygrad.cli.course import CourseGroup, language_option, tell_damage
from whygrad.cli.lab_words import misuse, refusal, tell

if TYPE_CHECKING:
    from whygrad.learn.lab.catalogue import Lab
    from whygrad.learn.lab.grading import Report
    from whygrad.learn.lab.workspace import Workspace
    from whygrad.learn.language import Language

__all__ = ["lab"]

_folder = click.option(
    "--folder", type=click.Path(path_type=Path), help="The folder of the lab, if not the usual one."
)
_name = click.argument("name", required=False)


@click.group(cls=CourseGroup, invoke_without_command=True)
@language_option
@click.pass_context
def lab(context: click.Context, lang: str | None) -> None:
    """Exercises that grade themselves.

    Without a command: all labs and where you stand.  A lab is named by its number or its name;
    inside its folder it need not be named at all.
    """
    from whygrad.learn.lab import progress

    tell_damage(context, progress.journal)
    if context.invoked_subcommand is None:
        from whygrad.learn.lab.show import show_labs
        from whygrad.learn.lab.workspace import enclosing
        from whygrad.learn.language import chosen

        here = enclosing(Path.cwd()) if lang is None else None
        show_labs(Console(), chosen(lang) if here is None else here.language)


@lab.command()
@click.argument("name")
@click.option(
    "--folder", type=click.Path(path_type=Path), help="Where; ./whygrad-labs/… if not said."
)
@click.option("--seed", type=int, help="For labs with variants: the same seed, the same variant.")
@language_option
def start(name: str, folder: Path | None, seed: int | None, lang: str | None) -> None:
    """Make a folder with the files to fill in and a README.

    In a folder that has the lab already, only files that are missing are put back.
    """
    import secrets

    from whygrad.learn.content import phrases
    from whygrad.learn.lab import places, workspace
    from whygrad.learn.language import chosen, in_language

    language = chosen(lang)
    words = phrases("lab", language)
    wanted = _found(name, language)
    _can_be_done(wanted, language)
    there = places.located(wanted) if folder is None else workspace.opened(folder)
    folder = folder or (there.folder if there else workspace.usual_folder(wanted))
    if there is not None and there.lab.name != wanted.name:
        raise refusal(words["other_lab"].format(folder=folder, name=there.lab.name))
    if folder.exists() and not folder.is_dir():
        raise refusal(words["not_a_lab_folder"].format(folder=folder))
    if there is not None:
        wanted = there.lab  # in the variant it was started with
    else:
        wanted = wanted.drawn(secrets.randbelow(10**6) if seed is None else seed)
    own = language if there is None else there.own_language
    work = workspace.Workspace(wanted, folder, language, own)
    written = workspace.make(wanted, folder, own)
    _note(language, "start", wanted, folder=str(folder.resolve()), language=own)
    _tell_what_was_written(work, written, there is not None)
    tell(words["read_first"].format(files=", ".join(wanted.to_fill_in())))
    if not places.is_here(work):
        click.echo(f"  cd {shlex.quote(str(folder))}")
    click.echo("  " + in_language("whygrad lab check", language, otherwise=own))


def _tell_what_was_written(work: Workspace, written: list[str], again: bool) -> None:
    from whygrad.learn.content import phrases
    from whygrad.learn.lab import places, progress, workspace

    words = phrases("lab", work.language)
    if written:
        tell(words["started"].format(folder=work.folder, files=", ".join(written)))
        kept = [each for each in ("README.md", *work.lab.files) if each not in written]
        if kept:
            tell(words["kept_files"].format(files=", ".join(kept)))
    else:
        state = words[f"state_{progress.of(work.lab).state}"]
        tell(words["nothing_overwritten"].format(folder=work.folder, state=state))
    usual = workspace.usual_folder(work.lab)
    if again and usual.resolve() != work.folder.resolve() and not places.is_here(work):
        another = places.starting(work.lab, work.language, usual)
        tell(words["another_copy"].format(command=another))
    if work.own_language != work.language:
        other = places.command(work, "reset")
        tell(words["other_language"].format(command=other))


@lab.command()
@_name
@_folder
@click.option("--seed", type=int, help="Repeat a grading with the same random inputs.")
@click.option("--json", metavar="FILE", help="Write the verdicts as JSON, for other programs.")
@language_option
@click.pass_context
def check(
    context: click.Context,
    name: str | None,
    folder: Path | None,
    seed: int | None,
    json: str | None,
    lang: str | None,
) -> None:
    """Grade; exits with 0 when every check passes and with 1 otherwise."""
    from whygrad.files.atomic import replacing
    from whygrad.learn.content import phrases

    work = _workspace(name, folder, lang)
    if json is not None and not Path(json).absolute().parent.is_dir():
        words = phrases("lab", work.language)
        raise misuse(words["no_folder"].format(folder=Path(json).parent))
    try:
        report = _graded(Console(), work, seed)
    except KeyboardInterrupt:
        click.echo("\n" + phrases("lab", work.language)["interrupted"])
        context.exit(130)
    if json is not None:
        with replacing(json) as partial:
            text = json_format.dumps(report.as_json(), ensure_ascii=False, indent=2)
            partial.write_text(text + "\n", encoding="utf-8")
    context.exit(0 if report.passed else 1)


@lab.command()
@_name
@_folder
@language_option
def watch(name: str | None, folder: Path | None, lang: str | None) -> None:
    """Grade now and after every save, until Ctrl-C."""
    from whygrad.learn.content import phrases
    from whygrad.learn.lab.watch import on_save

    work = _workspace(name, folder, lang)
    words = phrases("lab", work.language)
    console = Console()

    def again(changed: list[str]) -> None:
        if changed:
            console.rule()
            console.print(words["saved"].format(files=", ".join(changed)), highlight=False)
        _graded(console, work, None)
        click.echo(words["watching"].format(folder=work.folder))

    try:
        on_save(work.folder, again)
    except KeyboardInterrupt:
        click.echo("\n" + words["watch_ended"])


@lab.command()
@click.argument("check", required=False)
@click.option("--lab", "name", help="The lab, outside its folder.")
@_folder
@language_option
def hint(check: str | None, name: str | None, folder: Path | None, lang: str | None) -> None:
    """The next hint for the first check that failed, or for CHECK.

    Outside a lab's folder CHECK may also be the name of the lab.
    """
    from whygrad.learn.content import phrases
    from whygrad.learn.lab import progress
    from whygrad.learn.lab.bench import Bench
    from whygrad.learn.lab.catalogue import UnknownLab, find
    from whygrad.learn.lab.show import GradingScreen, show_hints
    from whygrad.learn.lab.workspace import enclosing

    here = enclosing(Path.cwd())
    if check is not None and name is None and (here is None or check not in here.lab.checks):
        with contextlib.suppress(UnknownLab):
            name, check = find(check).name, None
    work = _workspace(name, folder, lang)
    words = phrases("lab", work.language)
    been = progress.of(work.lab)
    console = Console()
    blocked = None
    if been.blocked or not been.graded:
        blocked = Bench(work.lab, work.folder, work.language).unreadable()
    if check is None:
        if been.graded and been.first_failing is None:
            tell(words["nothing_to_hint"])
            return
        known = [each for each in work.lab.checks if each == been.first_failing]
        check = next(iter(known or work.lab.checks))
    if check not in work.lab.checks:
        names = ", ".join(work.lab.checks)
        raise misuse(words["unknown_check"].format(name=work.lab.name, wish=check, checks=names))
    if blocked is not None:
        GradingScreen(console, work).blocked(blocked)
        return
    given, count = been.hints.get(check, 0), len(work.lab.hints[check])
    if given < count:
        _note(work.language, "hint", work.lab, check=check, given=given + 1)
        show_hints(console, work.lab, check, [given + 1], work.language)
    else:
        tell(words["no_more_hints"])
        show_hints(console, work.lab, check, range(1, count + 1), work.language)


@lab.command()
@_name
@_folder
@language_option
def reset(name: str | None, folder: Path | None, lang: str | None) -> None:
    """Put the files back as they were at the start; yours are kept in a backup.

    With --lang the lab begins again in that language.
    """
    from whygrad.learn.content import phrases
    from whygrad.learn.lab import workspace

    work = _workspace(name, folder, lang)
    backup = workspace.reset(work)
    _note(work.language, "reset", work.lab, folder=str(work.folder.resolve()), backup=str(backup))
    tell(phrases("lab", work.language)["reset_done"].format(backup=backup))


@lab.command()
@_name
@_folder
@language_option
def solution(name: str | None, folder: Path | None, lang: str | None) -> None:
    """The reference solution, once your own has passed."""
    from whygrad.learn.content import phrases
    from whygrad.learn.lab import places, progress
    from whygrad.learn.lab.show import show_solution
    from whygrad.learn.language import chosen

    language = chosen(lang)
    wanted = None if name is None or folder is not None else _found(name, language)
    # after a pass the folder need not be there any more
    gone = wanted is not None and places.located(wanted) is None
    if wanted is None or wanted.variants or not (gone and progress.of(wanted).passed):
        work = _workspace(name, folder, lang)
        wanted, language = work.lab, work.language
        if not progress.of(wanted).passed:
            message = phrases("lab", language)["solution_later"]
            check, hint = (places.command(work, verb) for verb in ("check", "hint"))
            raise refusal(message.format(name=wanted.name, check=check, hint=hint))
    _note(language, "solution", wanted)
    show_solution(Console(), wanted, language)


@lab.command("author-check")
@click.argument("names", nargs=-1)
@language_option
@click.pass_context
def author_check(context: click.Context, names: tuple[str, ...], lang: str | None) -> None:
    """For the authors of labs: the starter fails, the solution passes, nothing is missing."""
    from whygrad.learn.content import phrases
    from whygrad.learn.lab.authors import complaints
    from whygrad.learn.lab.catalogue import labs
    from whygrad.learn.language import chosen

    language = chosen(lang)
    words = phrases("lab", language)
    failed = False
    for each in [_found(name, language) for name in names] or labs():
        if missing := each.missing():
            click.echo(words["author_skipped"].format(name=each.name, packages=", ".join(missing)))
            continue
        found = complaints(each, language)
        failed = failed or bool(found)
        for complaint in found:
            click.echo(f"✗ lab {each.name}: {complaint}")
        if not found:
            click.echo("✓ " + words["author_fine"].format(name=each.name))
    context.exit(1 if failed else 0)


def _graded(console: Console, work: Workspace, seed: int | None) -> Report:
    from whygrad.learn.lab.grading import grade
    from whygrad.learn.lab.show import GradingScreen
    from whygrad.learn.lab.troubles import BLOCKING

    _can_be_done(work.lab, work.language)
    screen = GradingScreen(console, work)
    screen.title()
    report = grade(work.lab, work.folder, language=work.language, seed=seed, hear=screen.check)
    failing = [verdict for verdict in report.checks if not verdict.passed]
    facts = {
        "failing": [verdict.id for verdict in failing],
        "blocked": bool(failing) and failing[0].kind in BLOCKING,
        "seed": report.seed,
        "folder": str(work.folder.resolve()),
    }
    _note(work.language, "check", work.lab, **facts)
    screen.end(report)
    return report


def _note(language: Language, event: str, lab: Lab, /, **facts: Any) -> None:
    """Log what was done; where the log cannot be written, everything else still works."""
    from whygrad.learn.content import phrases
    from whygrad.learn.lab import progress

    try:
        progress.note(event, lab, **facts)
    except OSError as error:
        click.echo(phrases("lab", language)["not_noted"].format(error=error), err=True)


def _workspace(name: str | None, folder: Path | None, lang: str | None) -> Workspace:
    """The folder that is meant: as named, the present one, or where the lab was last seen."""
    from whygrad.learn.content import phrases
    from whygrad.learn.lab import places, workspace
    from whygrad.learn.lab.catalogue import labs
    from whygrad.learn.language import chosen, in_language

    language = chosen(lang)
    words = phrases("lab", language)
    wanted = None if name is None else _found(name, language)
    found = places.located(wanted) if folder is None else workspace.opened(folder)
    if found is not None and (wanted is None or found.lab.name == wanted.name):
        return found if lang is None else replace(found, language=language)
    if folder is not None:
        raise refusal(words["not_a_lab_folder"].format(folder=folder))
    if wanted is not None:
        advice = places.starting(wanted, language)
        raise refusal(words["not_started"].format(name=wanted.name, command=advice))
    example = in_language(f"whygrad lab check {labs()[0].name}", language)
    raise misuse(words["no_lab_here"].format(command=example))


def _found(name: str, language: Language) -> Lab:
    from whygrad.learn.content import phrases
    from whygrad.learn.lab.catalogue import UnknownLab, find

    try:
        return find(name)
    except UnknownLab as unknown:
        words = phrases("lab", language)
        if unknown.close:
            advice = words["did_you_mean"].format(names=f" {words['or']} ".join(unknown.close))
        else:
            advice = words["there_are"].format(names=", ".join(unknown.all))
        message = f"{words['unknown_lab'].format(wish=name)} {advice}"
        raise misuse(message) from None


def _can_be_done(lab: Lab, language: Language) -> None:
    from whygrad.learn.content import phrases

    if missing := lab.missing():
        message = phrases("lab", language)["needs"]
        raise refusal(message.format(name=lab.name, packages=" ".join(missing)))
