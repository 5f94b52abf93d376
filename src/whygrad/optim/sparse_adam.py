"""SparseAdam: Adam for tables of which a step sees a few rows."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from whygrad.errors import describe
from whygrad.ops import functions
from whygrad.optim.base.options import checked, given
from whygrad.optim.base.parameterwise import Group, PerParameter, State
from whygrad.optim.optimizer import Parameters
from whygrad.source import Where
from whygrad.tensor import Tensor, keys

__all__ = ["SparseAdam"]


class SparseAdam(PerParameter):
    """Adam on the elements the gradient names; all others keep their value and their averages.

    A sparse gradient names its elements.  Here ``Embedding(sparse=True)`` gives a dense gradient,
    of which the rows that are not zero count as named.
    """

    _counters: ClassVar[Mapping[str, float | str]] = {}

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        options = checked(self, given(locals()))
        for option in ("lr", "eps"):
            if not options[option] > 0:
                raise self._refusal(
                    ValueError, f"Invalid {option}: {options[option]}", "give a number above 0"
                )
        super().__init__(params, options)
        for group in self.param_groups:
            for param in group["params"]:
                if param._keys & keys.LAYOUTS:
                    raise self._refusal(
                        ValueError,
                        f"SparseAdam requires dense parameter tensors, not {describe(param)}",
                        "keep the parameter dense: only its gradient is sparse",
                    )

    def _from_sparse(self, param: Tensor, gradient: Tensor, name: str) -> Tensor:
        return gradient.coalesce()

    def _update(
        self, group: Group, param: Tensor, gradient: Tensor, name: str, where: Where
    ) -> None:
        state = self._started(param)
        state["step"] += 1
        if gradient._keys & keys.LAYOUTS:
            named: Any = tuple(gradient.indices()._array)
            values = gradient.values()._array
        else:
            rows = gradient._array.reshape(len(gradient), -1) if gradient.ndim else gradient._array
            named = np.flatnonzero(rows.any(axis=-1))
            values = gradient._array[named]
        if not values.size:
            return
        if group["maximize"]:
            values = -values
        average, spread = state["exp_avg"]._array, state["exp_avg_sq"]._array
        beta1, beta2 = group["betas"]
        mean = average[named] + (values - average[named]) * (1 - beta1)
        square = spread[named] + (values * values - spread[named]) * (1 - beta2)
        average[named], spread[named] = mean, square
        step = state["step"]
        rate = float(group["lr"]) * sqrt(1 - beta2**step) / (1 - beta1**step)
        param._array[named] -= rate * mean / (np.sqrt(square) + group["eps"])
        for each in (param, state["exp_avg"], state["exp_avg_sq"]):
            each._storage.bump(name, where)

    def _started(self, param: Tensor) -> State:
        state = self.state[param]
        if not state:
            zeros = functions["zeros_like"]
            start = param.detach()
            state |= {"step": 0, "exp_avg": zeros(start), "exp_avg_sq": zeros(start)}
        return state
