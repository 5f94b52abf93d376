"""RMSprop."""

from __future__ import annotations

from typing import Any

from whygrad.optim.base.arithmetic import Rule
from whygrad.optim.base.elementwise import Elementwise, Group, State, advanced, towards
from whygrad.optim.base.options import checked, given
from whygrad.optim.optimizer import Parameters
from whygrad.tensor import Tensor

__all__ = ["RMSprop"]


class RMSprop(Elementwise):
    """v ← α·v + (1 − α)·g²;  θ ← θ − lr·g/(√v + ε).

    ``centered`` subtracts the square of the averaged gradient from v, which makes it a variance.
    With ``momentum`` μ the step is lr·b, b ← μ·b + g/(√v + ε).  ``foreach`` and ``capturable``
    choose between PyTorch's implementations and change nothing here.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        options = given(locals(), momentum="alpha", centered="weight_decay")
        super().__init__(params, checked(self, options))

    def _buffers(self, group: Group) -> dict[str, float]:
        names = ["square_avg"]
        names += ["momentum_buffer"] if group["momentum"] > 0 else []
        names += ["grad_avg"] if group["centered"] else []
        return dict.fromkeys(names, 0.0)

    def _rule(self, group: Group, state: State) -> Rule:
        lr, alpha, eps = float(group["lr"]), float(group["alpha"]), float(group["eps"])
        momentum, centered = float(group["momentum"]), group["centered"]
        advanced(state)

        def rule(xp: Any, param: Any, grad: Any, square_avg: Any, *others: Any) -> None:
            grad = towards(xp, group, param, grad)
            xp.mul_(square_avg, alpha)
            xp.addcmul_(square_avg, grad, grad, value=1 - alpha)
            if centered:
                grad_avg = others[-1]
                xp.lerp_(grad_avg, grad, 1 - alpha)
                variance = xp.mul(grad_avg, grad_avg)
                spread = xp.sqrt(xp.add(square_avg, variance, alpha=-1.0))
            else:
                spread = xp.sqrt(square_avg)
            xp.add_(spread, eps)
            if momentum > 0:
                momentum_buffer = others[0]
                xp.mul_(momentum_buffer, momentum)
                xp.addcdiv_(momentum_buffer, grad, spread)
                xp.add_(param, momentum_buffer, alpha=-lr)
            else:
                xp.addcdiv_(param, grad, spread, value=-lr)

        return rule
