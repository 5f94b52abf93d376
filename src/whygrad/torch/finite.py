"""Is every number finite?  And if not: which call made the first that is not?"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.utils._python_dispatch import _disable_current_modes

from whygrad import dtypes
from whygrad.autograd.anomaly_mode.findings import Element
from whygrad.autograd.anomaly_mode.watch import at, first_places, fits

if TYPE_CHECKING:
    from whygrad.torch.calls import Event
    from whygrad.torch.record import Before

__all__ = ["Finding", "array_to_tensor", "examine", "numbers", "quietly", "trouble"]

_CHECKED = frozenset(
    (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128)
)


@dataclass(frozen=True)
class Finding:
    """A call that made a number that is not finite, with the numbers it was made of."""

    op: str
    kind: str  # "nan" or "inf"
    dtype: str
    shape: tuple[int, ...]
    count: int
    elements: tuple[Element, ...]
    fed: str | None  # "inf" if infinite numbers went in and NaN came out


def quietly() -> ExitStack:
    """Nothing that is computed here is recorded, by PyTorch or by a mode of the user's."""
    stack = ExitStack()
    stack.enter_context(torch._C.DisableTorchFunction())
    stack.enter_context(torch.no_grad())
    if torch._C._len_torch_dispatch_stack():
        stack.enter_context(_disable_current_modes())
    return stack


def _readable(tensor: torch.Tensor) -> bool:
    return (
        tensor.dtype in _CHECKED
        and type(tensor) in (torch.Tensor, torch.nn.Parameter)
        and tensor.layout is torch.strided
        and tensor.device.type != "meta"
        and not torch._C._functorch.is_functorch_wrapped_tensor(tensor)
    )


def trouble(tensor: torch.Tensor) -> str | None:
    """The worst there is in a tensor: ``"nan"``, ``"inf"``, or nothing.

    A sum is finite only if every number is, and takes no memory; large numbers may overflow it, so
    if it is not finite each one is looked at.
    """
    if not _readable(tensor):
        return None
    with quietly():
        if bool(torch.isfinite(tensor.sum())) or bool(torch.isfinite(tensor).all()):
            return None
        return "nan" if bool(torch.isnan(tensor).any()) else "inf"


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


def array_to_tensor(array: Any, dtype: torch.dtype, device: Any) -> torch.Tensor:
    """A tensor of its own with the numbers of ``array``."""
    values = np.array(array)
    if values.dtype.name == "bfloat16":
        values = values.astype(np.float32)
    return torch.from_numpy(values).to(device=device, dtype=dtype)


def examine(event: Event, seen: Before, outputs: Sequence[torch.Tensor]) -> None:
    """Note which results of a call are not finite, and whether they became so in it."""
    for track, tensor in zip(event.outputs, outputs, strict=True):
        track.trouble = trouble(tensor)
        if track.trouble is None:
            continue
        fed = _fed(seen, outputs)
        if fed is None or (fed == "inf" and track.trouble == "nan"):
            event.finding = _finding(event.op, seen, outputs, tensor, track.trouble, fed)


def _fed(seen: Before, outputs: Sequence[torch.Tensor]) -> str | None:
    """The worst among what went in; an argument that was overwritten is known from before."""
    found = set()
    for tensor, before in zip(seen.tensors, seen.troubles, strict=True):
        overwritten = any(tensor is each for each in outputs)
        found.add(before if before or overwritten else trouble(tensor))
    for each in seen.others:
        if isinstance(each, float) or each.dtype.kind in "fc":
            with np.errstate(all="ignore"):
                if not np.isfinite(each).all():
                    found.add("nan" if np.isnan(each).any() else "inf")
    return "nan" if "nan" in found else "inf" if "inf" in found else None


def _finding(
    op: str,
    seen: Before,
    outputs: Sequence[torch.Tensor],
    tensor: torch.Tensor,
    kind: str,
    fed: str | None,
) -> Finding:
    array = numbers(tensor)
    bad = np.isnan(array) if kind == "nan" else np.isinf(array)
    operands = {}
    for position, each in enumerate(seen.tensors):
        overwritten = any(each is one for one in outputs)
        if not overwritten and fits(each, array.shape) and _readable(each):
            operands[f"argument {position}"] = numbers(each)
    elements = tuple(
        Element(
            place,
            float(array[place].real),
            {name: at(each, array.shape, place) for name, each in operands.items()},
        )
        for place in first_places(bad)
    )
    dtype = str(tensor.dtype).removeprefix("torch.")
    return Finding(op, kind, dtype, array.shape, int(bad.sum()), elements, fed)
