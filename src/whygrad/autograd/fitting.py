"""Making what a rule returned fit where it goes: shape, dtype, precision, memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.dispatch import quiet
from whygrad.errors import fail
from whygrad.ops.complex_numbers import is_complex
from whygrad.ops.namespace import Namespace
from whygrad.tensor import Tensor, modes, wrap
from whygrad.tensor.graph.node import Node
from whygrad.tensor.memory import is_dense

if TYPE_CHECKING:
    from whygrad.autograd.engine import Walk

__all__ = [
    "added",
    "conjugated",
    "fit",
    "fresh",
    "laid_out_like",
    "match_dtype",
    "sum_to",
    "widen",
    "wrapped",
]

_HALVES = ("float16", "bfloat16")


def fit(
    walk: Walk, node: Node, parent: Node, slot: int, gradient: Any, incoming: Any
) -> tuple[Any, Any]:
    """What a rule of ``node`` returned as ``parent`` takes it, and what that may share."""
    shape, dtype = parent.shape, parent.dtype
    if parent.outputs is not None:
        shape, dtype = parent.outputs[slot]
    if gradient.shape != shape:
        gradient = sum_to(walk.xp, gradient, shape, node)
    if walk.on_arrays:
        if isinstance(gradient, Tensor):
            gradient = incoming = gradient._array  # may be what came in, under a new wrapper
            if type(gradient) is not np.ndarray:
                walk.owned.discard(parent)  # it cannot be added in place
        if gradient.dtype != dtype:
            gradient = match_dtype(gradient, dtype, node)
    return gradient, incoming


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
                where=None,
            ) from error
    axes = tuple(range(extra)) + tuple(
        extra + axis
        for axis, (mine, theirs) in enumerate(zip(shape, aligned, strict=True))
        if mine != theirs
    )
    summed = xp.sum(gradient, axes, True) if axes else gradient
    return xp.reshape(summed, shape) if extra else summed


def match_dtype(gradient: Any, dtype: Any, node: Node) -> Any:
    if gradient.dtype.kind == "c" and dtype.kind == "f":
        return gradient.real.astype(dtype, copy=False)  # a real number has no imaginary gradient
    if dtype.name in _HALVES or node.dtype.name in _HALVES:
        return gradient.astype(dtype)
    raise fail(
        RuntimeError,
        call=f"{node.name()} recorded at {node.where}",
        cause=f"its rule returned a {gradient.dtype} gradient for a {dtype} input",
        fix="keep the dtype of the input inside the rule",
        where=None,
    )


def conjugated(xp: Namespace, value: Any) -> Any:
    """The complex conjugate of a gradient, or of a list of them; a real one is its own."""
    if isinstance(value, list):
        return [None if each is None else conjugated(xp, each) for each in value]
    return xp.conj_physical(value) if is_complex(value) else value


def widen(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return type(value)(widen(each) for each in value)
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.name in _HALVES:
        return value.astype(np.float32)
    return value


def fresh(gradient: Any) -> Tensor:
    """A tensor that shares memory with nothing else; only NumPy arrays are ever written to."""
    return wrap(np.array(gradient) if isinstance(gradient, (np.ndarray, np.generic)) else gradient)


def laid_out_like(leaf: Tensor | None, gradient: Any, owned: bool) -> Tensor:
    """In the memory order of its leaf, so ``p.grad.view(-1)`` works where ``p.view(-1)`` does."""
    model = None if leaf is None else leaf._array
    if (
        type(model) is type(gradient) is np.ndarray
        and model.strides != gradient.strides
        and model.shape == gradient.shape
        and is_dense(model)
    ):
        laid_out = np.empty_like(model)
        laid_out[...] = gradient
        return wrap(laid_out)
    return wrap(gradient) if owned else fresh(gradient)


def wrapped(incoming: Any) -> Any:
    if isinstance(incoming, list):
        return [None if each is None else wrap(each) for each in incoming]
    return wrap(incoming)


def added(before: Any, gradient: Any) -> Any:
    known = (np.ndarray, np.generic, Tensor)
    if isinstance(before, known) and isinstance(gradient, known):
        return before + gradient  # type: ignore[operator]
    with modes.no_grad(), quiet.again():
        return (wrap(before) + wrap(gradient))._array
