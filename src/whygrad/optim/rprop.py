"""Rprop: only the sign of the gradient counts."""

from __future__ import annotations

from typing import Any

from whygrad.errors import fail
from whygrad.optim.base.arithmetic import Rule
from whygrad.optim.base.elementwise import Elementwise, Group, State, advanced
from whygrad.optim.base.options import checked, given
from whygrad.optim.optimizer import Parameters
from whygrad.tensor import Tensor

__all__ = ["Rprop"]


class Rprop(Elementwise):
    """θ ← θ − s·sign(g); s grows by η₊ while the sign of g stays and shrinks by η₋ when it turns.

    An element whose sign turned stays where it is for one step.  s begins as lr and stays within
    ``step_sizes``.  ``foreach`` and ``capturable`` choose between PyTorch's implementations and
    change nothing here.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        options = checked(
            self,
            given(
                locals(), foreach="capturable", maximize="capturable", differentiable="capturable"
            ),
        )
        if not 0 < etas[0] < 1 < etas[1]:
            raise fail(
                ValueError,
                call=f"Rprop(etas={etas})",
                cause=f"Invalid eta values: {etas[0]}, {etas[1]}",
                fix="give one factor between 0 and 1 and one above 1: (0.5, 1.2)",
            )
        super().__init__(params, options)

    def _buffers(self, group: Group) -> dict[str, float]:
        return {"prev": 0.0, "step_size": float(group["lr"])}

    def _rule(self, group: Group, state: State) -> Rule:
        shrink, grow = group["etas"]
        smallest, largest = group["step_sizes"]
        advanced(state)

        def rule(xp: Any, param: Any, grad: Any, prev: Any, step_size: Any) -> None:
            grad = xp.neg(grad) if group["maximize"] else grad
            factor = xp.sign(xp.mul(grad, prev))
            turned, stayed = factor < 0, factor > 0
            xp.masked_fill_(factor, factor == 0, 1.0)
            xp.masked_fill_(factor, turned, shrink)
            xp.masked_fill_(factor, stayed, grow)
            xp.mul_(step_size, factor)
            xp.clamp_(step_size, smallest, largest)
            xp.copy_(prev, grad)
            xp.masked_fill_(prev, turned, 0.0)
            xp.addcmul_(param, xp.sign(prev), step_size, value=-1.0)

        return rule
