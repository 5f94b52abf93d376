"""What a call of PyTorch means for where values come from.

The mode of :mod:`.record` sees functions; here they get their names and are sorted: which ones hand
values to Python or NumPy, which take only a shape, which are questions that no value answers, and
what cut a result off from the graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from whygrad.source import Where
from whygrad.torch.identity import Track

__all__ = ["Event", "giving_shape", "kind_of_cut", "leaving", "name_of", "tensors_in", "uneventful"]

_LEAVING = {
    "__array__": "numpy",
    "__bool__": "item",
    "__complex__": "item",
    "__dlpack__": "numpy",
    "__float__": "item",
    "__index__": "item",
    "__int__": "item",
    "item": "item",
    "numpy": "numpy",
    "tolist": "item",
}

_TENSOR_PROPERTIES = frozenset(("H", "T", "data", "imag", "mH", "mT", "real"))

# Methods that are asked so often, and never return or change a value, that looking is a waste.
_QUESTIONS = frozenset(
    (
        "__format__", "__hash__", "__len__", "__reduce_ex__", "__repr__", "data_ptr",
        "device", "dim", "get_device", "is_complex", "is_contiguous", "is_floating_point",
        "is_inference", "is_same_size", "ndimension", "nelement", "numel", "register_hook",
        "retain_grad", "size", "storage_offset", "stride", "type", "untyped_storage",
    )
)  # fmt: skip

_LOOKED_THROUGH = 1000  # members of one list; a longer one is data

_COPIES_NUMBERS = frozenset(("__deepcopy__", "as_tensor", "asarray", "new_tensor", "tensor"))


class Event:
    """One call that was seen: small, without tensors, with the user's line."""

    __slots__ = ("applied", "call", "cuts", "guesses", "inputs", "left", "nodes", "op",
                 "outputs", "since", "strangers", "time", "written")  # fmt: skip

    def __init__(self, time: int, op: str, call: Where | None) -> None:
        self.time = time
        self.op = op
        self.call = call
        self.inputs: tuple[Track, ...] = ()
        self.guesses: tuple[Track, ...] = ()  # inputs known only by their equal value
        self.strangers = 0  # NumPy arrays among the inputs whose origin nobody saw
        self.outputs: tuple[Track, ...] = ()
        self.cuts: tuple[str | None, ...] = ()  # one per output: what cut it off from the inputs
        self.written: tuple[Track, ...] = ()  # the outputs that were there before
        self.left: str | None = None  # "item" or "numpy", if a tensor became something else
        self.applied: Where | None = None  # the F.apply(…) in whose forward it happened
        self.since: Where | None = None  # what had switched recording off, for a cut by no_grad
        self.nodes = 0  # of PyTorch's graph that it made


def name_of(function: Any) -> str:
    """``relu``, ``add_``, ``getitem``; for a property its name."""
    name: str = getattr(function, "__name__", type(function).__name__)
    if name in ("__get__", "__set__"):
        name = getattr(function.__self__, "__name__", name)
    return name


def uneventful(function: Any, name: str) -> bool:
    """Whether no value comes out of such a call and none is changed by it."""
    kind = getattr(function, "__name__", "")
    if kind == "__get__":
        return name not in _TENSOR_PROPERTIES
    if kind == "__set__":
        return name not in ("data", "requires_grad")
    return name in _QUESTIONS or name.startswith(("_record_function", "_has_"))


def leaving(name: str) -> str | None:
    """``item`` or ``numpy`` if such a call turns a tensor into something else."""
    return _LEAVING.get(name)


def giving_shape(name: str, args: tuple[Any, ...]) -> Any:
    """The argument that gives a shape or a dtype and none of its values, as for ``zeros_like``."""
    if name.endswith("_like") or name.startswith("new_"):
        return args[0] if args else None
    if name.endswith("_as"):
        return args[1] if len(args) > 1 else None
    return None


def kind_of_cut(name: str, output: torch.Tensor, recording: bool, fresh_leaf: bool) -> str | None:
    """Why ``output`` has no gradient to pass on, although an input would have taken one."""
    if name == "data":
        return "data"
    if name in ("detach", "detach_"):
        return "detach"
    if not recording:
        return "inference_mode" if torch.is_inference_mode_enabled() else "no_grad"
    if output.requires_grad and not fresh_leaf:
        return None
    if name == "grad":
        return "create_graph"
    if name in _COPIES_NUMBERS or fresh_leaf:
        return "copied"
    if output.dtype is torch.bool:
        return "boolean"
    if not (output.dtype.is_floating_point or output.dtype.is_complex):
        return "integer"
    return "not differentiable"


def tensors_in(values: Any) -> Iterator[Any]:
    """Every tensor, array and float among the arguments, however deep in lists and dictionaries."""
    waiting = [values]
    while waiting:
        each = waiting.pop()
        if isinstance(each, (torch.Tensor, np.ndarray, float)):
            yield each
        elif isinstance(each, (list, tuple)):
            waiting.extend(reversed(each[:_LOOKED_THROUGH]))
        elif isinstance(each, dict):
            waiting.extend(reversed(list(each.values())))
