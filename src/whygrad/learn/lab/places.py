"""Where a lab's folder is, and what to type for it from where the learner stands."""

from __future__ import annotations

import shlex
from pathlib import Path

from whygrad.learn.content import quizzes
from whygrad.learn.lab import progress
from whygrad.learn.lab.catalogue import Lab, labs
from whygrad.learn.lab.workspace import Workspace, enclosing, opened, usual_folder
from whygrad.learn.language import Language, in_language

__all__ = ["command", "is_here", "located", "next_steps", "starting"]


def located(lab: Lab | None) -> Workspace | None:
    """A lab (or any) around the present folder, below it, or where it was last and still is."""
    here = enclosing(Path.cwd())
    seen = progress.folders() if lab is None else progress.of(lab).folders
    places = seen if lab is None else [usual_folder(lab), *seen]
    for each in (here, *map(opened, places)):
        if each is not None and (lab is None or each.lab.name == lab.name):
            return each
    return None


def is_here(work: Workspace) -> bool:
    """Whether the learner stands in this folder or below it."""
    here = enclosing(Path.cwd())
    return here is not None and here.folder == work.folder.resolve()


def command(work: Workspace, verb: str, *options: str) -> str:
    """``whygrad lab hint``; the lab is named where the present folder does not say it."""
    found = located(work.lab)
    if is_here(work) and verb != "start":
        address = ""
    elif found is not None and found.folder.resolve() == work.folder.resolve():
        address = f" {work.lab.name}"
    else:
        name = f" {work.lab.name}" if verb == "start" else ""
        address = f"{name} --folder {shlex.quote(str(work.folder))}"
    line = " ".join([f"whygrad lab {verb}{address}", *options])
    return in_language(line, work.language, otherwise=work.own_language)


def starting(lab: Lab, language: Language, folder: Path | None = None) -> str:
    """``whygrad lab start value``"""
    place = "" if folder is None else f" --folder {shlex.quote(str(folder))}"
    return in_language(f"whygrad lab start {lab.name}{place}", language)


def next_steps(lab: Lab, language: Language) -> tuple[str | None, str | None]:
    """After a lab: the next one that has not passed, and the quiz that asks most about this one."""
    later = sorted(labs(), key=lambda each: (each.number <= lab.number, each.number))
    open_labs = [each for each in later if each.name != lab.name and not progress.of(each).passed]
    fits = {
        quiz.number: sum(f"lab:{lab.name}" in question.see for question in quiz.questions)
        for quiz in quizzes()
    }
    best = max(fits, key=lambda number: fits[number], default=None)
    asked = best is not None and fits[best] > 0
    return (
        starting(open_labs[0], language) if open_labs else None,
        in_language(f"whygrad quiz {best}", language) if asked else None,
    )
