"""From the program with the bug to the repaired one, as a diff."""

from __future__ import annotations

from difflib import unified_diff

from whygrad.learn.content import Question

__all__ = ["repair"]


def repair(question: Question) -> str:
    """The lines that go and come, with a little around them."""
    before, after = question.code.splitlines(), question.fix.splitlines()
    lines = list(unified_diff(before, after, lineterm="", n=2))
    return "\n".join(lines[2:]).rstrip()  # without the names of files
