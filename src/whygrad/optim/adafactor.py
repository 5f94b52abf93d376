"""Adafactor: Adam's second moment in the memory of a row and a column."""

from __future__ import annotations

from whygrad.errors import describe, fail
from whygrad.optim.base.options import checked, given
from whygrad.optim.base.parameterwise import Group, PerParameter, State, advanced, written
from whygrad.optim.optimizer import Parameters
from whygrad.source import Where
from whygrad.tensor import Tensor, dtypes

__all__ = ["Adafactor"]


class Adafactor(PerParameter):
    """θ ← θ − ρ·max(ε₂, rms θ)·u/max(1, rms(u)/d), with u = g/√v and ρ = min(lr, 1/√t).

    v, the running mean of g², is kept for a matrix as its means over the rows R and over the
    columns C only: v = R·C/mean R.  The running means forget with 1 − t^``beta2_decay``.
    ``weight_decay`` shrinks θ by lr·weight_decay beforehand.  ``eps`` is (ε₁, ε₂); ε₁ keeps u
    finite, and None is the resolution of the dtype.  ``foreach`` changes nothing here.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        options = checked(self, given(locals()), but="eps")
        for index, epsilon in enumerate(eps):
            if epsilon is not None and not epsilon >= 0:
                raise fail(
                    ValueError,
                    call=f"Adafactor(eps={describe(eps)})",
                    cause=f"epsilon{index + 1} should be >= 0 but is: {epsilon}",
                    fix="leave eps out, or give (None, 1e-3)",
                )
        super().__init__(params, options)

    def _update(
        self, group: Group, param: Tensor, gradient: Tensor, name: str, where: Where
    ) -> None:
        state = self._counted(group, param)
        step = advanced(state)
        if not param.numel():
            return
        lr, decay = float(group["lr"]), float(group["weight_decay"])
        smallest, least_scale = group["eps"]
        if smallest is None:
            smallest = dtypes.finfo(param.dtype).eps
        if group["maximize"]:
            gradient = -gradient
        size = param.numel() ** 0.5
        rate = min(lr, 1 / step**0.5) * max(least_scale, param.norm(2).item() / size)
        value = param.detach() * (1 - lr * decay) if decay else param.detach()
        variance = self._variance(state, gradient, step ** group["beta2_decay"], smallest)
        update = variance.clamp(min=smallest * smallest).rsqrt() * gradient
        length = update.norm(2).item() / (size * group["d"])
        value = value.add(update, alpha=-rate / max(1.0, length))
        written(param, value, name, where)
        for each in state.values():
            each._storage.bump(name, where)

    @staticmethod
    def _variance(state: State, gradient: Tensor, weight: float, smallest: float) -> Tensor:
        """The running mean of g², with this gradient in it."""
        if gradient.ndim < 2:
            if "variance" not in state:
                state["variance"] = gradient.detach().new_zeros(gradient.shape)
            return state["variance"].lerp_(gradient * gradient, weight)
        rows, columns = gradient.shape[-2:]
        for key, dim, count in (("row_var", -1, columns), ("col_var", -2, rows)):
            mean = gradient.norm(dim=dim, keepdim=True).square() / count
            if key not in state:
                state[key] = mean.new_zeros(mean.shape)
            state[key].lerp_(mean, weight)
        row, column = state["row_var"], state["col_var"]
        return (row @ column) / row.mean(dim=-2, keepdim=True).clamp(min=smallest)
