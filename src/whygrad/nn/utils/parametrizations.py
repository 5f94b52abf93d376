"""Parametrizations that are often wanted."""

from __future__ import annotations

from typing import Any

from whygrad.errors import fail
from whygrad.nn.modules.module import Module
from whygrad.nn.utils.norms import norm_except, scaled
from whygrad.nn.utils.orthogonal import orthogonal
from whygrad.nn.utils.parametrize import register_parametrization
from whygrad.ops import functions
from whygrad.ops.public.linalg import vector_norm
from whygrad.tensor import Tensor
from whygrad.tensor.modes import no_grad

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    """w = g·v/‖v‖ with the length g and the direction v as parameters."""

    def __init__(self, dim: int | None) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, length: Tensor, direction: Tensor) -> Tensor:
        return scaled(direction, length, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except(weight, self.dim), weight


class _OlderNames:
    """Gives the tensors of the older form their present names; a class, so that it pickles."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, owner: Module, state: dict[str, Any], prefix: str, *_: Any) -> None:
        for old, new in (("g", 0), ("v", 1)):
            if f"{prefix}{self.name}_{old}" in state:
                key = f"{prefix}parametrizations.{self.name}.original{new}"
                state[key] = state.pop(f"{prefix}{self.name}_{old}")


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Split a weight into lengths (``original0``) and directions (``original1``) along ``dim``.

    ``dim=None``: one length for the whole tensor.  States saved with the older form load, too.
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    module.register_load_state_dict_pre_hook(_OlderNames(name))
    return module


class _SpectralNorm(Module):
    """w/σ(w): the largest singular value σ is found by power iteration, a step per forward."""

    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int, dim: int, eps: float) -> None:
        super().__init__()
        self.dim = dim % weight.ndim
        self.eps = eps
        self.n_power_iterations = n_power_iterations
        if weight.ndim > 1:
            with no_grad():
                matrix = self._matrix(weight)
                for name, size in zip(("_u", "_v"), matrix.shape):
                    start = functions["randn"](size, dtype=weight.dtype)
                    self.register_buffer(name, self._unit(start))
                self._iterate(matrix, 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    def _unit(self, vector: Tensor) -> Tensor:
        return vector / vector_norm(vector).clamp(min=self.eps)

    @no_grad()
    def _iterate(self, matrix: Tensor, times: int) -> None:
        for _ in range(times):
            self._u.copy_(self._unit(matrix @ self._v))
            self._v.copy_(self._unit(matrix.t() @ self._u))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return self._unit(weight)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        left, right = self._u.clone(), self._v.clone()  # the next forward writes into them
        return weight / left.dot(matrix @ right)

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divide a weight by its largest singular value; ``dim`` is the one of the outputs."""
    weight = getattr(module, name, None)
    call = f"spectral_norm({type(module).__name__}, {name!r})"

    def refuse(kind: type[Exception], cause: str, fix: str) -> Exception:
        return fail(kind, call=call, cause=cause, fix=fix)

    if not isinstance(weight, Tensor):
        cause = f"Module '{module}' has no parameter or buffer with name '{name}'"
        raise refuse(ValueError, cause, "name a parameter of the module")
    if n_power_iterations <= 0:
        cause = f"Expected n_power_iterations to be positive, but got {n_power_iterations}"
        raise refuse(ValueError, cause, "1 is enough: every forward goes on from the last")
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    if not -weight.ndim <= dim < weight.ndim:
        cause = f"Dimension out of range (expected to be in range of [-{weight.ndim}, "
        cause += f"{weight.ndim - 1}] but got {dim})"
        raise refuse(IndexError, cause, "name a dimension of the weight")
    parametrization = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return register_parametrization(module, name, parametrization)
