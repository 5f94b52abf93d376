"""Spectral normalisation by a hook: the older form, with the parameter ``weight_orig``.

:func:`whygrad.nn.utils.parametrizations.spectral_norm` is the newer one.
"""

from __future__ import annotations

from typing import Any, TypeVar

from whygrad.errors import fail
from whygrad.nn.modules.module import Module
from whygrad.nn.parameter import Parameter
from whygrad.ops import functions
from whygrad.tensor import Tensor
from whygrad.tensor.modes import no_grad

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]

M = TypeVar("M", bound=Module)


class SpectralNorm:
    """The hook: one power iteration (in training), then the weight divided by σ."""

    def __init__(
        self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        if n_power_iterations <= 0:
            raise _refuse(
                f"spectral_norm(…, n_power_iterations={n_power_iterations})",
                ValueError,
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}",
                "1 is enough: every forward goes on from the last",
            )
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """One row per output."""
        return weight.movedim(self.dim, 0).reshape(weight.shape[self.dim], -1)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """w/σ, where σ = uᵀ·W·v with the left and right vectors kept so far."""
        weight = getattr(module, f"{self.name}_orig")
        left, right = getattr(module, f"{self.name}_u"), getattr(module, f"{self.name}_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    right.copy_(_unit(matrix.t().mv(left), self.eps))
                    left.copy_(_unit(matrix.mv(right), self.eps))
            left, right = left.clone(), right.clone()  # the next forward writes into them
        return weight / left.dot(matrix.mv(right))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))


def _unit(vector: Tensor, eps: float) -> Tensor:
    return functions["normalize"](vector, dim=0, eps=eps)


def _refuse(call: str, kind: type[Exception], cause: str, fix: str) -> Exception:
    return fail(kind, call=call, cause=cause, fix=fix)


def _hook_on(module: Module, name: str) -> tuple[int, SpectralNorm] | None:
    for number, hook in module.__dict__.get("_hooks", {}).items():
        if isinstance(hook.function, SpectralNorm) and hook.function.name == name:
            return number, hook.function
    return None


def spectral_norm(
    module: M,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> M:
    """Divide a weight by its largest singular value before every forward."""
    call = f"spectral_norm({type(module).__name__}, {name!r})"
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    if _hook_on(module, name) is not None:
        raise _refuse(
            call,
            RuntimeError,
            f"Cannot register two spectral_norm hooks on the same parameter {name}",
            "remove the first one with remove_spectral_norm",
        )
    hook = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = module._parameters.get(name)
    if weight is None:
        raise _refuse(
            call,
            ValueError,
            f"`SpectralNorm` cannot be applied as parameter `{name}` is None"
            if name in module._parameters
            else f"the module has no parameter `{name}`",
            "name a parameter of the module",
        )
    with no_grad():
        matrix = hook.reshape_weight_to_matrix(weight)
        left, right = (_unit(weight.new_empty(size).normal_(), eps) for size in matrix.shape)
    del module._parameters[name]
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(f"{name}_u", left)
    module.register_buffer(f"{name}_v", right)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Make the weight one parameter again."""
    found = _hook_on(module, name)
    if found is None:
        raise _refuse(
            f"remove_spectral_norm({type(module).__name__}, {name!r})",
            ValueError,
            f"spectral_norm of '{name}' not found in {module}",
            "nn.utils.parametrize.remove_parametrizations removes the newer form",
        )
    number, hook = found
    with no_grad():
        weight = hook.compute_weight(module, do_power_iteration=False)
    for each in (name, f"{name}_u", f"{name}_v", f"{name}_orig"):
        delattr(module, each)
    module.register_parameter(name, Parameter(weight.detach()))
    del module.__dict__["_hooks"][number]
    return module
