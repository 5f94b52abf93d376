"""Adamax: Adam with the largest gradient in place of the average square."""

from __future__ import annotations

from typing import Any

from whygrad.optim.base.arithmetic import Rule
from whygrad.optim.base.elementwise import Elementwise, Group, State, advanced, towards
from whygrad.optim.base.options import checked, given
from whygrad.optim.optimizer import Parameters
from whygrad.tensor import Tensor

__all__ = ["Adamax"]


class Adamax(Elementwise):
    """m ← β₁·m + (1 − β₁)·g;  u ← max(β₂·u, |g| + ε);  θ ← θ − lr/(1 − β₁ᵗ)·m/u.

    ``foreach`` and ``capturable`` choose between PyTorch's implementations and change nothing here.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        super().__init__(params, checked(self, given(locals())))

    def _buffers(self, group: Group) -> dict[str, float]:
        return {"exp_avg": 0.0, "exp_inf": 0.0}

    def _rule(self, group: Group, state: State) -> Rule:
        lr, eps = float(group["lr"]), float(group["eps"])
        beta1, beta2 = map(float, group["betas"])
        size = lr / (1 - beta1 ** advanced(state))

        def rule(xp: Any, param: Any, grad: Any, exp_avg: Any, exp_inf: Any) -> None:
            grad = towards(xp, group, param, grad)
            xp.lerp_(exp_avg, grad, 1 - beta1)
            xp.mul_(exp_inf, beta2)
            magnitude = xp.abs(grad)
            xp.add_(magnitude, eps)
            xp.maximum_(exp_inf, magnitude)
            xp.addcdiv_(param, exp_avg, exp_inf, value=-size)

        return rule
