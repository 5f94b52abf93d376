"""What an excuse is asked about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from tests.fuzz.autograd.ending import Ending
from tests.fuzz.autograd.program import Program, Step
from tests.fuzz.autograd.session import Session
from tests.fuzz.autograd.words import bring_up_to_date

__all__ = ["Case", "Excuse", "overwritten"]


@dataclass
class Case:
    """A step, or the last backward (None), about which the libraries do not agree."""

    program: Program  # with the steps that were carried out before
    step: Step | None
    mine: Session
    theirs: Session
    error: Exception | None = None  # of the library that refused
    gradients: list[Any] | None = None  # whygrad's, of the last backward

    @property
    def text(self) -> str:
        return str(self.error)

    @property
    def target(self) -> Any:
        """PyTorch's first operand."""
        return None if self.step is None else self.theirs.operand(self.step.a)

    def says(self, *phrases: str) -> bool:
        """Whether the refusal contains one of the phrases."""
        return any(phrase in self.text for phrase in phrases)

    def rerun(self) -> tuple[Session, Any]:
        """PyTorch's answer to the program where every write to a saved value is noticed."""
        session = Session(self.program, torch, watchful=True)
        answer: Any = None
        for step in self.program.steps:
            answer = session.attempt(step)
            bring_up_to_date(session.pool)
            if overwritten(answer):
                return session, answer
        if self.step is None:
            return session, Ending.of(self.program, self.mine).gradients(session)
        if self.step in self.program.steps:
            return session, answer
        return session, session.attempt(self.step)


Excuse = Callable[[Case], bool]


def overwritten(answer: Any) -> bool:
    """Whether PyTorch refused because a saved value was overwritten."""
    phrases = ("inplace operation", "has been modified inplace", "has been detached in-place")
    return isinstance(answer, Exception) and any(phrase in str(answer) for phrase in phrases)
