"""Adam and AdamW."""

from __future__ import annotations

from math import sqrt
from typing import Any

from whygrad.optim.base.arithmetic import Fusable, Rule
from whygrad.optim.base.elementwise import Elementwise, Group, State, advanced, towards
from whygrad.optim.base.options import checked, given
from whygrad.optim.optimizer import Parameters
from whygrad.tensor import Tensor

__all__ = ["Adam", "AdamW"]


class Adam(Elementwise):
    """m ← β₁·m + (1 − β₁)·g;  v ← β₂·v + (1 − β₂)·g²;  θ ← θ − lr·m̂/(√v̂ + ε).

    m̂ = m/(1 − β₁ᵗ) and v̂ = v/(1 − β₂ᵗ) make up for the zeros that both averages start with.
    With ``amsgrad`` v̂ uses the largest v so far.  ``weight_decay`` adds weight_decay·θ to g, or,
    ``decoupled_weight_decay``, shrinks θ by lr·weight_decay beforehand.  ``foreach``, ``fused``
    and ``capturable`` choose between PyTorch's implementations and change nothing here.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        super().__init__(params, checked(self, given(locals(), maximize="foreach")))

    def _buffers(self, group: Group) -> dict[str, float]:
        largest = {"max_exp_avg_sq": 0.0} if group["amsgrad"] else {}
        return {"exp_avg": 0.0, "exp_avg_sq": 0.0, **largest}

    def _rule(self, group: Group, state: State) -> Rule:
        lr, eps, decay = float(group["lr"]), float(group["eps"]), float(group["weight_decay"])
        beta1, beta2 = map(float, group["betas"])
        decoupled = decay if group["decoupled_weight_decay"] else 0.0
        step = advanced(state)
        # m̂/(√v̂ + ε) = scale·m/(√v + scale2·ε): the corrections are numbers, not passes over arrays.
        scale2 = sqrt(1 - beta2**step)
        scale = scale2 / (1 - beta1**step)

        def rule(
            xp: Any, param: Any, grad: Any, exp_avg: Any, exp_avg_sq: Any, largest: Any = None
        ) -> None:
            grad = towards(xp, group, param, grad)
            if decoupled:
                xp.mul_(param, 1 - lr * decoupled)
            xp.lerp_(exp_avg, grad, 1 - beta1)
            xp.mul_(exp_avg_sq, beta2)
            xp.addcmul_(exp_avg_sq, grad, grad, value=1 - beta2)
            if largest is not None:
                xp.maximum_(largest, exp_avg_sq)
                exp_avg_sq = largest
            spread = xp.sqrt(exp_avg_sq)
            xp.add_(spread, scale2 * eps)
            xp.addcdiv_(param, exp_avg, spread, value=-lr * scale)

        if group["amsgrad"] or group["maximize"] or decay != decoupled:
            return rule
        numbers = (1 - lr * decoupled, 1 - beta1, beta2, 1 - beta2, scale2 * eps, -lr * scale)
        return Fusable(rule, "adam", *numbers)


class AdamW(Adam):
    """Adam whose weight decay does not pass through the averages: θ shrinks on its own."""

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(params, **given(locals()), decoupled_weight_decay=True)
