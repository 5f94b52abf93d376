"""Averaged stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from whygrad.optim.base.arithmetic import Rule
from whygrad.optim.base.elementwise import Elementwise, Group, State, advanced, towards
from whygrad.optim.base.options import checked, given
from whygrad.optim.optimizer import Parameters
from whygrad.tensor import Tensor

__all__ = ["ASGD"]


class ASGD(Elementwise):
    """θ ← (1 − λ·η)·θ − η·g;  a ← a + μ·(θ − a).

    η = lr/(1 + λ·lr·t)^α falls slowly with the step t; μ = 1/max(1, t − t₀), so a is θ itself up
    to step ``t0`` and the mean of the θs from there on.  It stands in the state under ``"ax"``.
    ``foreach`` and ``capturable`` choose between PyTorch's implementations and change nothing here.
    """

    _counters: ClassVar[Mapping[str, float | str]] = {"step": 0.0, "eta": "lr", "mu": 1.0}

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(params, checked(self, given(locals())))

    def _buffers(self, group: Group) -> dict[str, float]:
        return {"ax": 0.0}

    def _rule(self, group: Group, state: State) -> Rule:
        lr, decay = float(group["lr"]), float(group["lambd"])
        eta, mu = state["eta"]._array.item(), state["mu"]._array.item()
        step = advanced(state)
        # the numbers of the next step: this one goes by those that were saved
        state["eta"]._array[...] = lr / (1 + decay * lr * step) ** group["alpha"]
        state["mu"]._array[...] = 1 / max(1, step - group["t0"])

        def rule(xp: Any, param: Any, grad: Any, average: Any) -> None:
            grad = towards(xp, group, param, grad)
            xp.mul_(param, 1 - decay * eta)
            xp.add_(param, grad, alpha=-eta)
            if mu == 1:
                xp.copy_(average, param)
            else:
                xp.lerp_(average, param, mu)

        return rule
