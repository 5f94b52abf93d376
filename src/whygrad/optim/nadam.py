"""NAdam: Adam with Nesterov momentum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from whygrad.optim.base.arithmetic import Rule
from whygrad.optim.base.elementwise import Elementwise, Group, State, advanced, towards
from whygrad.optim.base.options import checked, given
from whygrad.optim.optimizer import Parameters
from whygrad.tensor import Tensor

__all__ = ["NAdam"]


class NAdam(Elementwise):
    """θ ← θ − lr·((1 − μₜ)/(1 − Πμ)·g + μₜ₊₁/(1 − Πμ·μₜ₊₁)·m)/(√v̂ + ε).

    m, v and v̂ are Adam's; μₜ = β₁·(1 − ½·0.96^(t·momentum_decay)), and Πμ is the product of all μ
    so far.  ``foreach`` and ``capturable`` choose between PyTorch's implementations and change
    nothing here.
    """

    _counters: ClassVar[Mapping[str, float]] = {"step": 0.0, "mu_product": 1.0}

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        options = given(locals(), maximize="foreach")
        super().__init__(params, checked(self, options))

    def _buffers(self, group: Group) -> dict[str, float]:
        return {"exp_avg": 0.0, "exp_avg_sq": 0.0}

    def _rule(self, group: Group, state: State) -> Rule:
        lr, eps, decay = float(group["lr"]), float(group["eps"]), float(group["weight_decay"])
        beta1, beta2 = map(float, group["betas"])
        step = advanced(state)

        def momentum(time: float) -> float:
            return beta1 * (1 - 0.5 * 0.96 ** (time * float(group["momentum_decay"])))

        product = state["mu_product"]._array
        product *= momentum(step)  # in the precision it is saved with
        so_far = product.item()
        for_grad = -lr * (1 - momentum(step)) / (1 - so_far)
        for_average = -lr * momentum(step + 1) / (1 - so_far * momentum(step + 1))

        def rule(xp: Any, param: Any, grad: Any, exp_avg: Any, exp_avg_sq: Any) -> None:
            grad = towards(xp, group, param, grad)
            if decay and group["decoupled_weight_decay"]:
                xp.mul_(param, 1 - lr * decay)
            xp.lerp_(exp_avg, grad, 1 - beta1)
            xp.mul_(exp_avg_sq, beta2)
            xp.addcmul_(exp_avg_sq, grad, grad, value=1 - beta2)
            spread = xp.sqrt(xp.mul(exp_avg_sq, 1 / (1 - beta2**step)))
            xp.add_(spread, eps)
            xp.addcdiv_(param, grad, spread, value=for_grad)
            xp.addcdiv_(param, exp_avg, spread, value=for_average)

        return rule
