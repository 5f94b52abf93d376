"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from whygrad.errors import fail
from whygrad.optim.base.arithmetic import Rule
from whygrad.optim.base.elementwise import Elementwise, Group, State, towards
from whygrad.optim.base.options import checked, given
from whygrad.optim.optimizer import Parameters
from whygrad.tensor import Tensor

__all__ = ["SGD"]


class SGD(Elementwise):
    """b ← μ·b + (1 − dampening)·g;  θ ← θ − lr·b, or θ − lr·(g + μ·b) with ``nesterov``.

    μ is ``momentum``, g the gradient plus ``weight_decay``·θ; b starts as the first g.  ``foreach``
    and ``fused`` choose between PyTorch's implementations and change nothing here.
    """

    _counters: ClassVar[Mapping[str, float]] = {}
    _takes_sparse = True

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        options = checked(self, given(locals()))
        if nesterov and (momentum <= 0 or dampening != 0):
            raise fail(
                ValueError,
                call=f"SGD(nesterov=True, momentum={momentum}, dampening={dampening})",
                cause="Nesterov momentum requires a momentum and zero dampening",
                fix="give a momentum such as 0.9 and leave dampening at 0",
            )
        super().__init__(params, options)

    def _buffers(self, group: Group) -> dict[str, float]:
        return {"momentum_buffer": 0.0} if group["momentum"] else {}

    def _rule(self, group: Group, state: State) -> Rule:
        lr, momentum = float(group["lr"]), float(group["momentum"])
        first = state.get("momentum_buffer") is None

        def rule(xp: Any, param: Any, grad: Any, momentum_buffer: Any = None) -> None:
            grad = towards(xp, group, param, grad)
            if momentum:
                if first:
                    xp.copy_(momentum_buffer, grad)
                else:
                    xp.mul_(momentum_buffer, momentum)
                    xp.add_(momentum_buffer, grad, alpha=1 - float(group["dampening"]))
                if group["nesterov"]:
                    grad = xp.add(grad, momentum_buffer, alpha=momentum)
                else:
                    grad = momentum_buffer
            xp.add_(param, grad, alpha=-lr)

        return rule
