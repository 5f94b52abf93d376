"""One situation: a short program, a question about it, and the answer that is right."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["HEADER", "HERE", "Healthy", "Situation"]

HERE = "# here"  # marks the line an answer must name; "# here for torch" one for that engine only

# What stands above every program; for PyTorch the library is another one of the same name.
HEADER = "import copy\nimport numpy as np\nimport whygrad as wg\nF = wg.nn.functional\n\n"


@dataclass(frozen=True)
class Situation:
    """A program in which a gradient is missing, zero or not a number."""

    title: str
    program: str
    question: str  # "why_none(w, loss)", asked when the program has run
    cause: str
    in_torch: str | None = None  # the cause there, where a recording knows more or less
    only: str | None = None  # the engine it exists in, if it is only one …
    because: str | None = None  # … and why

    @property
    def text(self) -> str:
        """The program as it is run."""
        return HEADER + self.program.lstrip("\n")

    @property
    def engines(self) -> tuple[str, ...]:
        return ("whygrad", "torch") if self.only is None else (self.only,)

    def cause_in(self, engine: str) -> str:
        return self.in_torch if engine == "torch" and self.in_torch is not None else self.cause

    def line_in(self, engine: str) -> int | None:
        """The number of the marked line, header included."""
        for mark in (f"{HERE} for {engine}", HERE):
            for number, line in enumerate(self.text.splitlines(), 1):
                if line.endswith(mark):
                    return number
        return None


@dataclass(frozen=True)
class Healthy:
    """A program that computes ``loss`` from ``w``; nothing is wrong with it."""

    title: str
    program: str
