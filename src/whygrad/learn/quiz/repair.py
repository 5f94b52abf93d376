"""From the program with the bug to the repaired one, as a diff."""

from __future__ import annotations

from difflib import unified_diff

from whygrad.learn.content import Question

__all__ = ["repair"]


def repair(question: Question) -> str:
    """The whole program with the lines that go and come; programs of questions are short."""
    before, after = question.code.splitlines(), question.fix.splitlines()
    lines = unified_diff(before, after, lineterm="", n=max(len(before), len(after)))
    return "\n".join(list(lines)[3:])
