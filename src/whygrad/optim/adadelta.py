"""Adadelta."""

from __future__ import annotations

from typing import Any

from whygrad.optim.base.arithmetic import Rule
from whygrad.optim.base.elementwise import Elementwise, Group, State, advanced, towards
from whygrad.optim.base.options import checked, given
from whygrad.optim.optimizer import Parameters
from whygrad.tensor import Tensor

__all__ = ["Adadelta"]


class Adadelta(Elementwise):
    """v ← ρ·v + (1 − ρ)·g²;  δ = √(u + ε)/√(v + ε)·g;  u ← ρ·u + (1 − ρ)·δ²;  θ ← θ − lr·δ.

    ``foreach`` and ``capturable`` choose between PyTorch's implementations and change nothing here.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        options = given(locals(), maximize="foreach", capturable="foreach")
        super().__init__(params, checked(self, options))

    def _buffers(self, group: Group) -> dict[str, float]:
        return {"square_avg": 0.0, "acc_delta": 0.0}

    def _rule(self, group: Group, state: State) -> Rule:
        lr, rho, eps = float(group["lr"]), float(group["rho"]), float(group["eps"])
        advanced(state)

        def rule(xp: Any, param: Any, grad: Any, square_avg: Any, acc_delta: Any) -> None:
            grad = towards(xp, group, param, grad)
            xp.mul_(square_avg, rho)
            xp.addcmul_(square_avg, grad, grad, value=1 - rho)
            delta = xp.sqrt(xp.add(acc_delta, eps))
            xp.div_(delta, xp.sqrt(xp.add(square_avg, eps)))
            xp.mul_(delta, grad)
            xp.mul_(acc_delta, rho)
            xp.addcmul_(acc_delta, delta, delta, value=1 - rho)
            xp.add_(param, delta, alpha=-lr)

        return rule
