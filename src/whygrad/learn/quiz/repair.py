"""From the program with the bug to the repaired one, as a diff."""

from __future__ import annotations

from difflib import unified_diff

from whygrad.learn.content import Question

__all__ = ["repair"]


def repair(question: Question) -> str:
    """The lines that go and come, with a little around them; ``…`` where lines are left out.

    The names of files and the positions that a diff begins with are for programs, not for people.
    """
    before, after = question.code.splitlines(), question.fix.splitlines()
    lines = list(unified_diff(before, after, lineterm="", n=2))[3:]
    return "\n".join(" …" if line.startswith("@@") else line for line in lines).rstrip()
