"""PyTorch's functions, programs and arguments as whygrad's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from operator import attrgetter
from types import FunctionType
from typing import Any

import numpy as np
import torch

import whygrad

__all__ = ["NotCompared", "Translation", "ours", "ported", "replaced", "variants"]

MOST_DIMENSIONS = 64  # of NumPy's arrays


class NotCompared(Exception):
    """Why a call says nothing about whygrad."""


def ours(info: Any) -> Any:
    """whygrad's function of PyTorch's name; None if there is none."""
    if type(info.op).__module__ == "torch._ops":
        return None  # a function of aten, which no program calls by this name
    found = next(filter(None, map(partial(_look_up, info.name), (whygrad, whygrad.Tensor))), None)
    return found and (ported(info.op) or found)


def ported(function: Any) -> Any:
    """A small program around a function: the same program with the import swapped."""
    if not isinstance(function, FunctionType) or "_internal" not in function.__module__:
        return None
    names = {**function.__globals__, "torch": whygrad, "np": np}
    made = FunctionType(function.__code__, names, None, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def variants(info: Any) -> Iterator[tuple[str, Any, Any]]:
    """The method and the in-place form, in PyTorch and here."""
    for label, theirs in (("method", info.method_variant), ("in place", info.inplace_variant)):
        if theirs is None or theirs is info.op:
            continue
        mine = ported(theirs) or getattr(whygrad.Tensor, getattr(theirs, "__name__", ""), None)
        if mine is not None:
            yield label, theirs, mine


def _look_up(name: str, space: Any) -> Any:
    try:
        found = attrgetter(name)(space)
    except AttributeError:
        return None
    if isinstance(found, property):
        return found.fget
    return found if callable(found) else None


class Translation:
    """The arguments of one call; ``pairs`` are its tensors, here and there.

    What shares memory there shares it here, and a part of a memory lies in as large a one.
    """

    def __init__(self) -> None:
        self.pairs: list[tuple[Any, Any]] = []
        self._tensors: dict[int, Any] = {}
        self._memories: dict[tuple[int, torch.dtype], tuple[Any, Any]] = {}

    def __call__(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, torch.device):
            return whygrad.device(str(value))
        if isinstance(value, torch.Size):
            return whygrad.Size(value)
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            name = str(value).removeprefix("torch.")
            if not hasattr(whygrad, name):
                raise NotCompared(f"whygrad has no {name}")
            return getattr(whygrad, name)
        if isinstance(value, slice):
            return slice(self(value.start), self(value.stop), self(value.step))
        if isinstance(value, (list, tuple)):
            return type(value)(self(each) for each in value)
        if isinstance(value, dict):
            return {key: self(each) for key, each in value.items()}
        if callable(value):
            raise NotCompared("a function as argument")
        return value

    def _tensor(self, value: torch.Tensor) -> Any:
        if id(value) in self._tensors:
            return self._tensors[id(value)]
        if value.layout is not torch.strided or value.is_quantized:
            raise NotCompared("a sparse or quantized argument")
        if value.is_meta or value.dtype is torch.bfloat16 or value.dim() > MOST_DIMENSIONS:
            raise NotCompared("an argument that NumPy cannot hold")
        made = self._arranged(value.detach().resolve_conj().resolve_neg())
        if value.requires_grad:
            made.requires_grad_()
        self._tensors[id(value)] = made
        self.pairs.append((made, value))
        return made

    def _arranged(self, plain: torch.Tensor) -> Any:
        """A tensor with the same numbers in the same arrangement."""
        if not plain.numel():
            return whygrad.from_numpy(np.array(plain.numpy()))
        storage = plain.untyped_storage()
        place = storage.data_ptr(), plain.dtype
        if place not in self._memories:
            size = storage.nbytes() // plain.element_size()
            everything = plain.as_strided((size,), (1,), 0)
            memory = whygrad.from_numpy(np.array(everything.numpy()))
            self._memories[place] = memory, storage  # alive, so that its address stays its own
        memory, _ = self._memories[place]
        return memory.as_strided(tuple(plain.shape), plain.stride(), plain.storage_offset())


def replaced(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same arguments with other tensors."""
    again = partial(replaced, change=change)
    if isinstance(value, (torch.Tensor, whygrad.Tensor)):
        return change(value)
    if isinstance(value, (list, tuple)) and not isinstance(value, (torch.Size, whygrad.Size)):
        return type(value)(again(each) for each in value)
    if isinstance(value, dict):
        return {key: again(each) for key, each in value.items()}
    return value
