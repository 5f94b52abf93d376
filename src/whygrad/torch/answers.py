"""Answers about all parameters of a module, those with the same cause together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from whygrad.why.answer import NOTHING_WRONG, Answer

__all__ = ["Answers"]

_NAMED = 6  # parameters that one line names


class Answers(Mapping[str, Answer]):
    """What is wrong with the parameters of a module, by name; empty if nothing is.

    Like an :class:`~whygrad.why.answer.Answer` it has one line (``str``), a ``report()`` and
    ``to_dict()``.
    """

    def __init__(
        self, question: str, answers: Mapping[str, Answer], asked: int, healthy: str
    ) -> None:
        self.question = question
        self.asked = asked  # parameters that were looked at
        self._answers = dict(answers)
        self._healthy = healthy

    def __getitem__(self, name: str) -> Answer:
        return self._answers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._answers)

    def __len__(self) -> int:
        return len(self._answers)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong with any of them."""
        return not self._answers

    @property
    def by_cause(self) -> dict[str, list[str]]:
        """The names of the parameters for each cause, the most frequent cause first."""
        groups: dict[str, list[str]] = {}
        for name, answer in self._answers.items():
            groups.setdefault(answer.cause, []).append(name)
        return dict(sorted(groups.items(), key=lambda group: -len(group[1])))

    def __str__(self) -> str:
        if self.ok:
            return (
                f"{self.question}: {NOTHING_WRONG}: each of {self.asked} parameters {self._healthy}"
            )
        told = [f"{cause}: {_listed(names)}" for cause, names in self.by_cause.items()]
        return f"{self.question}: {len(self)} of {self.asked} parameters; {'; '.join(told)}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def report(self) -> str:
        """The full report of one parameter per cause and line, and the names of the others."""
        lines = [str(self)]
        groups: dict[tuple[str, Any, str], list[str]] = {}
        for name, answer in self._answers.items():
            groups.setdefault((answer.cause, answer.where, answer.fix or ""), []).append(name)
        for names in groups.values():
            lines += ["", self._answers[names[0]].report()]
            if len(names) > 1:
                lines.append(f"  the same for {_listed(names[1:])}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that ``json.dumps`` takes, with a versioned schema."""
        return {
            "schema": "whygrad.answers/1",
            "question": self.question,
            "ok": self.ok,
            "asked": self.asked,
            "by_cause": self.by_cause,
            "answers": {name: answer.to_dict() for name, answer in self._answers.items()},
        }

    def _repr_html_(self) -> str:
        return f"<pre style='white-space:pre-wrap'>{escape(self.report())}</pre>"


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED} more"
