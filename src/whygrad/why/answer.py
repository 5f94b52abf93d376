"""What ``why_none``, ``why_zero`` and ``why_nan`` return: one line, a report, and a dictionary."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

from whygrad.source import Where

__all__ = ["NOTHING_WRONG", "Answer", "Section", "place"]

NOTHING_WRONG = "nothing wrong"


@dataclass(frozen=True)
class Section:
    """A titled part of a report: a path, a list of elements, …"""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """The cause, with the line and the fix.

    ``str(answer)`` is one line, ``answer.report()`` everything, ``answer.to_dict()`` the same for
    programs.  ``answer.cause`` is a short stable word such as ``"detach"``; it is
    ``"nothing wrong"`` when nothing is.
    """

    question: str  # "why_none(w, loss)"
    cause: str
    headline: str
    where: Where | None = None
    fix: str | None = None
    sections: tuple[Section, ...] = ()
    evidence: dict[str, Any] = field(default_factory=dict)  # plain data

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return self.cause == NOTHING_WRONG

    def __str__(self) -> str:
        at = "" if self.where is None else f" (at {self.where})"
        return f"{self.question}: {self.headline}{at}"

    def report(self) -> str:
        """Everything that is known, in words."""
        lines = [self.question, f"  cause: {self.headline}"]
        if self.where is not None:
            lines.append(f"  at:    {self.where}")
        if self.fix is not None:
            lines.append(f"  fix:   {self.fix}")
        for section in self.sections:
            lines += ["", f"  {section.title}", *(f"    {line}" for line in section.lines)]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that ``json.dumps`` takes, with a versioned schema."""
        return {
            "schema": "whygrad.answer/1",
            "question": self.question,
            "cause": self.cause,
            "ok": self.ok,
            "headline": self.headline,
            "where": place(self.where),
            "fix": self.fix,
            "sections": [
                {"title": section.title, "lines": list(section.lines)} for section in self.sections
            ],
            "evidence": self.evidence,
        }

    def _repr_html_(self) -> str:
        colour = "#2e7d32" if self.ok else "#c62828"
        return (
            f"<div style='border-left:4px solid {colour};padding-left:8px'>"
            f"<pre style='margin:0;white-space:pre-wrap'>{escape(self.report())}</pre></div>"
        )


def place(where: Where | None) -> dict[str, Any] | None:
    """A source line as plain data."""
    if where is None:
        return None
    return {"file": where.file, "line": where.line, "text": where.text}
