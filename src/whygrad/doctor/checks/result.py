"""What a check gives back: an answer that prints as a table and can be made to raise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from whygrad.errors import fail
from whygrad.training.tables import as_html, as_text

__all__ = ["Result", "figure"]

R = TypeVar("R", bound="Result")


@dataclass
class Result:
    """The outcome of one check; ``problems`` are sentences, the gravest first."""

    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # worth knowing, and not wrong

    check = "check"  # the call, for errors
    fix = "see `problems` of the result"

    @property
    def ok(self) -> bool:
        return not self.problems

    def __bool__(self) -> bool:
        return self.ok

    def raise_if_bad(self: R) -> R:
        """The result itself, or a RuntimeError that names the first problem."""
        if self.ok:
            return self
        more = f" (and {len(self.problems) - 1} more)" if len(self.problems) > 1 else ""
        raise fail(RuntimeError, call=self.check, cause=self.problems[0] + more, fix=self.fix)

    def rows(self) -> tuple[list[list[str]], str]:
        """Head and rows of the table, and ``<`` or ``>`` for each column."""
        return [], ""

    def __str__(self) -> str:
        rows, align = self.rows()
        table = [as_text(rows, align), ""] if len(rows) > 1 else []
        return "\n".join([*table, *self._remarks()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows, align = self.rows()
        return as_html(rows, align, "\n".join(self._remarks()))

    def _remarks(self) -> list[str]:
        said = [f"✗ {each}" for each in self.problems] or ["✓ nothing wrong"]
        return said + [f"  {each}" for each in self.notes]


def figure(value: float | None) -> str:
    """A number for a cell; nothing where nothing was measured."""
    return "" if value is None else f"{value:.3g}"
