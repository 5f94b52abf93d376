"""The numbers of a PyTorch tensor: whether they are finite, and as a NumPy array."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import _disable_current_modes

from whygrad.autograd.anomaly_mode.finite import Trouble
from whygrad.errors import describe
from whygrad.tensor import dtypes

__all__ = ["array_to_tensor", "copied", "described", "numbers", "quietly", "readable", "trouble"]

_CHECKED = frozenset(
    (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128)
)


def quietly() -> ExitStack:
    """Nothing that is computed here is recorded, by PyTorch or by a mode of the user's."""
    stack = ExitStack()
    stack.enter_context(torch._C.DisableTorchFunction())
    stack.enter_context(torch.no_grad())
    if torch._C._len_torch_dispatch_stack():
        stack.enter_context(_disable_current_modes())
    return stack


def readable(tensor: torch.Tensor) -> bool:
    """Whether there are floating-point numbers to look at."""
    return (
        tensor.dtype in _CHECKED
        and type(tensor) in (torch.Tensor, torch.nn.Parameter)
        and tensor.layout is torch.strided
        and not tensor.is_nested
        and tensor.device.type != "meta"
        and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    )


def trouble(tensor: torch.Tensor) -> Trouble | None:
    """The worst there is in a tensor: ``"nan"``, ``"inf"``, or nothing.

    A sum is finite only if every number is, and takes no memory; large numbers may overflow it, so
    if it is not finite each one is looked at.
    """
    if not readable(tensor):
        return None
    with quietly():
        if bool(torch.isfinite(tensor.sum())) or bool(torch.isfinite(tensor).all()):
            return None
        return "nan" if bool(torch.isnan(tensor).any()) else "inf"


def copied(tensor: torch.Tensor) -> torch.Tensor:
    """A copy that nobody sees being made."""
    with quietly():
        return tensor.detach().clone()


def numbers(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    """A copy as a NumPy array, bfloat16 as ``ml_dtypes`` has it, else as float32."""
    with quietly():
        plain = tensor.detach().cpu().resolve_conj().resolve_neg()
        if plain.dtype is not torch.bfloat16:
            return np.array(plain.numpy())
        try:
            narrow = dtypes.bfloat16.numpy
        except ModuleNotFoundError:
            return np.array(plain.float().numpy())
        return np.array(plain.view(torch.int16).numpy()).view(narrow)


def described(tensor: torch.Tensor) -> str:
    """``float32[2, 3]``"""
    return describe(tensor).removeprefix("torch.")


def array_to_tensor(array: Any, dtype: torch.dtype, device: Any) -> torch.Tensor:
    """A tensor of its own with the numbers of ``array``."""
    values = np.array(array)
    if values.dtype.name == "bfloat16":
        values = values.astype(np.float32)
    return torch.from_numpy(values).to(device=device, dtype=dtype)
