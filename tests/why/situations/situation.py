"""One situation: a short program, a question about it, and the answer that is right."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["HERE", "HEADER", "Healthy", "Situation", "line_of"]

HERE = "# here"  # marks the line an answer must name

# What stands above every program; for PyTorch the library is another one of the same name.
HEADER = "import copy\nimport numpy as np\nimport whygrad as wg\nF = wg.nn.functional\n\n"


@dataclass(frozen=True)
class Situation:
    """A program in which a gradient is missing, zero or not a number."""

    title: str
    program: str
    question: str  # "why_none(w, loss)", asked when the program has run
    cause: str
    only: str | None = None  # the engine it exists in, if it is only one …
    because: str | None = None  # … and why


@dataclass(frozen=True)
class Healthy:
    """A program that computes ``loss`` from ``w``; nothing is wrong with it."""

    title: str
    program: str


def line_of(program: str) -> int | None:
    """The number of the marked line in the program, header included."""
    for number, line in enumerate((HEADER + program.lstrip("\n")).splitlines(), 1):
        if line.endswith(HERE):
            return number
    return None
