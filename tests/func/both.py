"""The same program with whygrad's transforms and with PyTorch's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import torch
import torch.func

import whygrad as wg
import whygrad.func

Program = Callable[[Any, Any], Callable[..., Any]]  # (functions, library) -> what to call


def t(*shape: int, seed: int = 0) -> wg.Tensor:
    return wg.from_numpy(np.asarray(np.random.default_rng(seed).normal(size=shape)))


def to_torch(value: Any) -> Any:
    """The same nested value with PyTorch's tensors in it."""
    if isinstance(value, wg.Tensor):
        made = torch.from_numpy(np.array(value.detach().numpy()))
        return made.requires_grad_(value.requires_grad)
    if isinstance(value, dict):
        return {key: to_torch(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        made = [to_torch(each) for each in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    return value


def same(mine: Any, theirs: Any) -> None:
    """Equal structure, shapes and values."""
    if isinstance(theirs, torch.Tensor):
        assert isinstance(mine, wg.Tensor)
        assert tuple(mine.shape) == tuple(theirs.shape)
        assert mine.dtype.name == str(theirs.dtype).removeprefix("torch.")
        np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), 1e-9, 1e-12)
    elif isinstance(theirs, dict):
        assert list(mine) == list(theirs)
        same(list(mine.values()), list(theirs.values()))
    elif isinstance(theirs, (list, tuple)):
        assert len(mine) == len(theirs)
        for a, b in zip(mine, theirs, strict=True):
            same(a, b)
    elif is_dataclass(theirs):
        for field in fields(theirs):
            same(getattr(mine, field.name), getattr(theirs, field.name))
    else:
        assert mine == theirs


def agree(program: Program, *args: Any) -> Any:
    """Run the program on both sides and return whygrad's result."""
    mine = program(whygrad.func, wg)(*args)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # PyTorch's about its own torch.jit
        theirs = program(torch.func, torch)(*to_torch(args))
    same(mine, theirs)
    return mine
