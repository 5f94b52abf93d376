"""The last backward of a program: gradients of everything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.fuzz.autograd.program import Program
from tests.fuzz.autograd.session import Session

__all__ = ["Ending"]


@dataclass
class Ending:
    """From which values, at which, and whether the gradients of their squares are wanted, too.

    The second time only leaves are asked: what arrives in the middle depends on whether a formula
    is written in terms of inputs or outputs.
    """

    twice: bool
    asking: list[int]
    collecting: list[int]

    @classmethod
    def of(cls, program: Program, session: Session) -> Ending:
        collecting = session.collecting()
        if program.twice:  # hooked values: see left_out.captured_before_the_hook
            collecting = [number for number in collecting if not session.is_hooked(number)]
        collecting = [n for n in collecting if not session.written_unseen(session.pool[n])]
        return cls(program.twice, session.asking(), collecting)

    def gradients(self, session: Session) -> list[Any] | Exception:
        """At every collecting value; the refusal if there is one."""
        grad = session.lib.autograd.grad
        try:
            collecting = [session.pool[number] for number in self.collecting]
            total = session.words.loss(*[session.pool[number] for number in self.asking])
            if not self.twice:
                total.backward()
                return [each.grad for each in collecting]
            first = grad(total, collecting, create_graph=True, allow_unused=True)
            live = [each for each in first if each is not None and each.requires_grad]
            if not live:
                return list(first)
            norm = sum((each * each).sum().to(session.lib.float64) for each in live)
            leaves = [each for each in collecting if each.is_leaf]
            return [*first, *grad(norm, leaves, allow_unused=True)]
        except Exception as error:
            return error
