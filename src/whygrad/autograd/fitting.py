"""Making what a rule returned fit the input it belongs to: shape, dtype, precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.autograd.node import Node
from whygrad.errors import fail
from whygrad.ops.namespace import Namespace

__all__ = ["match_dtype", "sum_to", "widen"]

_HALVES = ("float16", "bfloat16")


def sum_to(xp: Namespace, gradient: Any, shape: tuple[int, ...], node: Node) -> Any:
    """Undo broadcasting: every copy of an element sends its gradient back to the one original."""
    have = gradient.shape
    extra = len(have) - len(shape)
    aligned = have[extra:]
    if extra > 0 and aligned == shape:
        return xp.sum(gradient, tuple(range(extra)), False)
    fits = extra >= 0 and all(
        mine == theirs or mine == 1 for mine, theirs in zip(shape, aligned, strict=True)
    )
    if not fits:
        try:
            return xp.expand(gradient, shape)  # a rule may return a gradient still to broadcast
        except Exception as error:
            raise fail(
                RuntimeError,
                call=f"{node.name()} recorded at {node.where}",
                cause=f"its rule returned a gradient of shape {have} for an input of shape {shape}",
                fix="return a gradient in the shape of the input, or of the output",
            ) from error
    axes = tuple(range(extra)) + tuple(
        extra + axis
        for axis, (mine, theirs) in enumerate(zip(shape, aligned, strict=True))
        if mine != theirs
    )
    summed = xp.sum(gradient, axes, True) if axes else gradient
    return xp.reshape(summed, shape) if extra else summed


def match_dtype(gradient: Any, dtype: Any, node: Node) -> Any:
    if dtype.name in _HALVES or node.dtype.name in _HALVES:
        return gradient.astype(dtype)
    raise fail(
        RuntimeError,
        call=f"{node.name()} recorded at {node.where}",
        cause=f"its rule returned a {gradient.dtype} gradient for a {dtype} input",
        fix="keep the dtype of the input inside the rule",
    )


def widen(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)(widen(each) for each in value)
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.name in _HALVES:
        return value.astype(np.float32)
    return value
