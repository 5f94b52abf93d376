"""Muon: momentum whose directions all get the same length."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import ClassVar

from whygrad.errors import describe, fail
from whygrad.ops import functions
from whygrad.optim.base.options import checked, given
from whygrad.optim.base.parameterwise import Group, PerParameter, written
from whygrad.optim.optimizer import Parameters
from whygrad.source import Where
from whygrad.tensor import Tensor, dtypes

__all__ = ["Muon"]

Coefficients = tuple[float, float, float]

MOST_STEPS = 100  # PyTorch's limit: a handful is enough for the singular values to come near 1


class Muon(PerParameter):
    """B ← μ·B + (1 − μ)·G;  θ ← (1 − lr·weight_decay)·θ − lr′·O, for matrices only.

    O is what stays of B (with ``nesterov``: of μ·B + (1 − μ)·G) when its singular values are all
    moved to about 1: ``ns_steps`` times X ← a·X + (b·A + c·A²)·X with A = X·Xᵀ, in bfloat16.
    lr′ = lr·√max(1, rows/columns), or with ``adjust_lr_fn="match_rms_adamw"``
    lr·0.2·√max(rows, columns).  Biases, embeddings and heads are for another optimizer.
    """

    _counters: ClassVar[Mapping[str, float | str]] = {}

    def __init__(
        self,
        params: Parameters,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: Coefficients = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        options = checked(self, given(locals()), but="eps")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise self._refusal(
                ValueError,
                f"Adjust learning rate function {adjust_lr_fn} is not supported",
                "pass None, 'original' or 'match_rms_adamw'",
            )
        super().__init__(params, options)
        for group in self.param_groups:
            for param in group["params"]:
                if param.ndim != 2:
                    raise self._refusal(
                        ValueError,
                        "Muon only supports 2D parameters whereas we found a parameter "
                        f"{describe(param)}",
                        "give the others to a second optimizer, AdamW for example",
                    )

    def _update(
        self, group: Group, param: Tensor, gradient: Tensor, name: str, where: Where
    ) -> None:
        lr, momentum = float(group["lr"]), float(group["momentum"])
        state = self.state[param]
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = functions["zeros_like"](gradient.detach())
        buffer = state["momentum_buffer"].lerp_(gradient, 1 - momentum)
        direction = gradient.lerp(buffer, momentum) if group["nesterov"] else buffer
        update = _levelled(direction, group["ns_coefficients"], group["ns_steps"], group["eps"])
        value = param.detach() * (1 - lr * group["weight_decay"])
        value = value.add(update, alpha=-lr * _ratio(group["adjust_lr_fn"], *param.shape))
        written(param, value, name, where)
        buffer._storage.bump(name, where)


def _ratio(adjust: str | None, rows: int, columns: int) -> float:
    if adjust == "match_rms_adamw":
        return 0.2 * sqrt(max(rows, columns))
    return sqrt(max(1, rows / columns))


def _levelled(matrix: Tensor, coefficients: Coefficients, steps: int, eps: float) -> Tensor:
    """``matrix`` with singular values near 1, by iterating an odd polynomial on them."""
    if steps >= MOST_STEPS or len(coefficients) != 3:
        raise fail(
            ValueError,
            call=f"Muon.step() with ns_steps={steps}, ns_coefficients={coefficients}",
            cause=f"there must be fewer than {MOST_STEPS} steps and exactly 3 coefficients",
            fix="leave both out: ns_steps=5 suffices",
        )
    a, b, c = coefficients
    tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.to(dtypes.bfloat16)
    x = x.T if tall else x
    x = x / x.norm().clamp(min=eps)
    addmm = functions["addmm"]
    for _ in range(steps):
        gram = x @ x.T
        x = addmm(x, addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if tall else x
