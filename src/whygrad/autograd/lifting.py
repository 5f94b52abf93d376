"""From a sample to the tensor with all samples, through every open level of ``vmap``, and back.

Only physical tensors have a place in the graph (:mod:`whygrad.autograd.batching`), so a gradient
inside ``vmap`` is taken there.  An input that all samples share is repeated for each of them
first: samples do not depend on each other, hence the gradient of the sum over all samples with
respect to the repeated input *is* the gradient of each sample, side by side.
"""

from __future__ import annotations

from whygrad.autograd.batching import add_batch, level_of, open_levels, remove_batch
from whygrad.ops.namespace import recorded
from whygrad.tensor import Tensor

__all__ = ["Levels", "levels_of", "lower", "open_levels", "raised"]

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
        tensor = _without(tensor, level, size)
    return tensor


def raised(tensor: Tensor, levels: Levels) -> Tensor:
    """A tensor that looks like one sample: the first dimensions are the batches of ``levels``."""
    for level, _ in levels:
        tensor = _within(tensor, level)
    return tensor


def _without(tensor: Tensor, level: int, size: int) -> Tensor:
    above = level_of(tensor)
    if above <= level:
        return remove_batch(tensor, level, size)
    inner = _without(tensor._array.tensor, level, size)
    return add_batch(recorded.transpose(inner, 0, 1), above)


def _within(tensor: Tensor, level: int) -> Tensor:
    above = level_of(tensor)
    if above < level:
        return add_batch(tensor, level)
    return add_batch(_within(recorded.transpose(tensor._array.tensor, 0, 1), level), above)
