"""From a sample to the tensor with all samples, through every open level of ``vmap``, and back.

Only physical tensors have a place in the graph (:mod:`~whygrad.autograd.transforms.batching`), so
a gradient inside ``vmap`` is taken there.  An input that all samples share is repeated for each of
them first: samples do not depend on each other, hence the gradient of the sum over all samples
with respect to the repeated input *is* the gradient of each sample, side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from whygrad.autograd.transforms.batching import add_batch, level_of, remove_batch
from whygrad.errors import describe, fail
from whygrad.ops.namespace import recorded
from whygrad.tensor import Tensor

__all__ = [
    "Levels",
    "grad_of_samples",
    "levels_of",
    "lower",
    "raised",
    "within_level",
]

Levels = tuple[tuple[int, int], ...]  # (level, size of its batch), outermost first


def levels_of(tensor: Tensor) -> Levels:
    """The levels a tensor is batched at."""
    found = []
    while level := level_of(tensor):
        tensor = tensor._array.tensor
        found.append((level, tensor.shape[0]))
    return tuple(reversed(found))


def lower(tensor: Tensor, levels: Levels) -> Tensor:
    """The tensor with the batches of ``levels`` as its first dimensions, outermost first.

    Batches of levels that were opened later stay what they are.
    """
    for level, size in reversed(levels):
        tensor = remove_batch(tensor, level, size)
    return tensor


def raised(tensor: Tensor, levels: Levels) -> Tensor:
    """A tensor that looks like one sample: the first dimensions are the batches of ``levels``."""
    for level, _ in levels:
        tensor = within_level(tensor, level)
    return tensor


def within_level(tensor: Tensor, level: int) -> Tensor:
    """The way back: the first dimension becomes the batch of ``level``."""
    above = level_of(tensor)
    if above < level:
        return add_batch(tensor, level)
    return add_batch(within_level(recorded.transpose(tensor._array.tensor, 0, 1), level), above)


def grad_of_samples(
    grad: Callable[..., Any],
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    grad_outputs: Sequence[Tensor | None],
    options: tuple[Any, ...],
) -> tuple[Tensor | None, ...]:
    """``autograd.grad`` of batched outputs, for each sample by itself."""
    levels = tuple(sorted({level for each in outputs for level in levels_of(each)}))
    for each in inputs:
        if not set(levels) <= set(levels_of(each)):
            raise fail(
                RuntimeError,
                call=f"grad() of {describe(outputs[0])} by {describe(each)}, inside vmap",
                cause="grad() called inside a function being vmapped is not supported for an input "
                "that all samples share: its place in the graph belongs to the whole batch",
                fix="use whygrad.func.grad(function), which gives every sample an input of its own",
            )
    seeds = [
        recorded.ones_like(root) if each is None and root.numel() == 1 else each
        for root, each in zip(outputs, grad_outputs, strict=True)
    ]
    found = grad(
        [lower(each, levels) for each in outputs],
        [lower(each, levels) for each in inputs],
        [each if each is None else lower(each, levels) for each in seeds],
        *options,
    )
    return tuple(None if each is None else raised(each, levels) for each in found)
