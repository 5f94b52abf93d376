"""Adagrad."""

from __future__ import annotations

from typing import Any

from whygrad.errors import describe, fail
from whygrad.optim.base.arithmetic import Rule
from whygrad.optim.base.elementwise import Elementwise, Group, State, advanced, towards
from whygrad.optim.base.options import checked, given
from whygrad.optim.optimizer import Parameters
from whygrad.source import Where
from whygrad.tensor import Tensor, keys

__all__ = ["Adagrad"]


class Adagrad(Elementwise):
    """s ← s + g²;  θ ← θ − lr/(1 + (t − 1)·lr_decay)·g/(√s + ε).

    s starts at ``initial_accumulator_value``, and exists from the beginning, as in PyTorch.
    ``foreach`` and ``fused`` choose between PyTorch's implementations and change nothing here.
    """

    _takes_sparse = True

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        options = given(locals(), eps="weight_decay")
        super().__init__(params, checked(self, options))

    def add_param_group(self, param_group: Group) -> None:
        super().add_param_group(param_group)
        for param in param_group["params"]:
            self._filled(param_group, param, self._state_of(param_group, param))

    def _usable(self, param: Tensor, gradient: Tensor, name: str, where: Where) -> Tensor:
        if gradient._keys & keys.LAYOUTS and self._decays(param):
            raise fail(
                RuntimeError,
                call=f"{name}() on {describe(param)}",
                cause="weight_decay option is not compatible with sparse gradients",
                fix="give this parameter a group of its own with weight_decay=0",
            )
        return super()._usable(param, gradient, name, where)

    def _decays(self, param: Tensor) -> bool:
        return any(
            group["weight_decay"] and any(each is param for each in group["params"])
            for group in self.param_groups
        )

    def _buffers(self, group: Group) -> dict[str, float]:
        return {"sum": group["initial_accumulator_value"]}

    def _rule(self, group: Group, state: State) -> Rule:
        eps = float(group["eps"])
        lr = float(group["lr"]) / (1 + (advanced(state) - 1) * float(group["lr_decay"]))

        def rule(xp: Any, param: Any, grad: Any, squares: Any) -> None:
            grad = towards(xp, group, param, grad)
            xp.addcmul_(squares, grad, grad)
            spread = xp.sqrt(squares)
            xp.add_(spread, eps)
            xp.addcdiv_(param, grad, spread, value=-lr)

        return rule
