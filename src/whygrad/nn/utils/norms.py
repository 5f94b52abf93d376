"""Weight normalisation by a hook: the older form, with parameters ``weight_g`` and ``weight_v``.

:func:`whygrad.nn.utils.parametrizations.weight_norm` is the newer one.
"""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

from whygrad.errors import fail
from whygrad.nn.modules.module import Module
from whygrad.nn.parameter import Parameter
from whygrad.ops.public.linalg import vector_norm
from whygrad.tensor import Tensor

__all__ = ["WeightNorm", "norm_except", "remove_weight_norm", "scaled", "weight_norm"]

M = TypeVar("M", bound=Module)


def norm_except(weight: Tensor, dim: int) -> Tensor:
    """The length of each slice along ``dim``, with dimensions of 1 for the others; −1: of all."""
    if dim == -1:
        return vector_norm(weight)
    others = tuple(axis for axis in range(weight.ndim) if axis != dim % weight.ndim)
    return vector_norm(weight, dim=others, keepdim=True)


def scaled(direction: Tensor, length: Tensor, dim: int) -> Tensor:
    """w = g·v/‖v‖"""
    return direction * (length / norm_except(direction, dim))


class WeightNorm:
    """The hook: computes the weight anew before every forward."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        length = getattr(module, f"{self.name}_g")
        return scaled(getattr(module, f"{self.name}_v"), length, self.dim)

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def _hook_on(module: Module, name: str) -> tuple[int, WeightNorm] | None:
    for number, hook in module.__dict__.get("_hooks", {}).items():
        if isinstance(hook.function, WeightNorm) and hook.function.name == name:
            return number, hook.function
    return None


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Split a weight into its length (``weight_g``) and its direction (``weight_v``)."""
    warnings.warn(
        "`nn.utils.weight_norm` is deprecated in favor of `nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    if _hook_on(module, name) is not None:
        raise fail(
            RuntimeError,
            call=f"weight_norm({type(module).__name__}, {name!r})",
            cause=f"Cannot register two weight_norm hooks on the same parameter {name}",
            fix="remove the first one with remove_weight_norm",
        )
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    length = norm_except(weight.detach(), hook.dim)
    del module._parameters[name]
    module.register_parameter(f"{name}_g", Parameter(length))
    module.register_parameter(f"{name}_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Make the weight one parameter again."""
    found = _hook_on(module, name)
    if found is None:
        raise fail(
            ValueError,
            call=f"remove_weight_norm({type(module).__name__}, {name!r})",
            cause=f"weight_norm of '{name}' not found in {module}",
            fix="nn.utils.parametrize.remove_parametrizations removes the newer form",
        )
    number, hook = found
    weight = hook.compute_weight(module).detach()
    delattr(module, name)
    del module._parameters[f"{name}_g"], module._parameters[f"{name}_v"]
    setattr(module, name, Parameter(weight))
    del module.__dict__["_hooks"][number]
    return module
