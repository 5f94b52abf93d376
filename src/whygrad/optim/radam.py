"""RAdam: Adam that trusts the second moment only once it has seen enough."""

from __future__ import annotations

from math import sqrt
from typing import Any

from whygrad.optim.base.arithmetic import Rule
from whygrad.optim.base.elementwise import Elementwise, Group, State, advanced, towards
from whygrad.optim.base.options import checked, given
from whygrad.optim.optimizer import Parameters
from whygrad.tensor import Tensor

__all__ = ["RAdam"]


class RAdam(Elementwise):
    """θ ← θ − lr·r·m̂/(√v̂ + ε) if ρₜ > 5, else θ − lr·m̂, with Adam's m̂ and v̂.

    ρₜ = ρ∞ − 2t·β₂ᵗ/(1 − β₂ᵗ), ρ∞ = 2/(1 − β₂) − 1, measures how many gradients v has seen, and
    r² = (ρₜ − 4)(ρₜ − 2)ρ∞/((ρ∞ − 4)(ρ∞ − 2)ρₜ).  As in PyTorch ε is added to √v before the
    correction.  ``foreach`` and ``capturable`` choose between PyTorch's implementations and change
    nothing here.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        options = given(locals(), maximize="foreach", decoupled_weight_decay="differentiable")
        super().__init__(params, checked(self, options))

    def _buffers(self, group: Group) -> dict[str, float]:
        return {"exp_avg": 0.0, "exp_avg_sq": 0.0}

    def _rule(self, group: Group, state: State) -> Rule:
        lr, eps, decay = float(group["lr"]), float(group["eps"]), float(group["weight_decay"])
        beta1, beta2 = map(float, group["betas"])
        step = advanced(state)
        forgotten = beta2**step
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * forgotten / (1 - forgotten)
        size = lr / (1 - beta1**step)
        trusted = length > 5
        if trusted:
            seen = (length - 4) * (length - 2) * longest
            size *= sqrt(seen / ((longest - 4) * (longest - 2) * length)) * sqrt(1 - forgotten)

        def rule(xp: Any, param: Any, grad: Any, exp_avg: Any, exp_avg_sq: Any) -> None:
            grad = towards(xp, group, param, grad)
            if decay and group["decoupled_weight_decay"]:
                xp.mul_(param, 1 - lr * decay)
            xp.lerp_(exp_avg, grad, 1 - beta1)
            xp.mul_(exp_avg_sq, beta2)
            xp.addcmul_(exp_avg_sq, grad, grad, value=1 - beta2)
            if trusted:
                spread = xp.sqrt(exp_avg_sq)
                xp.add_(spread, eps)
                xp.addcdiv_(param, exp_avg, spread, value=-size)
            else:
                xp.add_(param, exp_avg, alpha=-size)

        return rule
