"""Class indices as targets: checking them, and finding what they point at."""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.errors import fail
from whygrad.ops.loss.shared import refusal
from whygrad.tensor import Tensor, dtypes

__all__ = ["Labels", "all_count", "check_weight", "checked_target", "class_dim"]

Array = Any
Shape = tuple[int, ...]


def class_dim(ndim: int) -> int:
    """Classes are dimension 1 of a batch, dimension 0 of a single example."""
    return min(ndim - 1, 1)


class Labels:
    """The targets of one call, ready to index with."""

    def __init__(self, target: Array, weight: Array | None, shape: Shape, ignore_index: int):
        self.dim = class_dim(len(shape))
        self.classes = shape[self.dim]
        self.size = target.size
        self.counted: Array | None = None  # None if no target is to be ignored
        index = target
        if not all_count(target, self.classes, ignore_index):
            self.counted = target != ignore_index
            index = np.where(self.counted, target, 0)
            _check_bounds(index, self.classes)
        self.weights = None if weight is None else weight[index]
        grid = [
            np.arange(size).reshape(size, *(1,) * (index.ndim - axis - 1))
            for axis, size in enumerate(index.shape)
        ]
        self.places = (*grid[: self.dim], index, *grid[self.dim :])

    def masked(self, values: Array) -> Array:
        """0 for the targets that are to be ignored."""
        if self.counted is None:
            return values
        return np.where(self.counted, values, values.dtype.type(0))

    def total_weight(self, dtype: Any) -> Any:
        """What a mean divides by."""
        if self.weights is not None:
            return self.masked(self.weights).sum()
        count = self.size if self.counted is None else np.count_nonzero(self.counted)
        return np.asarray(count, dtype)

    def any_counted(self) -> bool:
        return bool(self.size) if self.counted is None else bool(self.counted.any())

    def has_say(self, shape: Shape, smoothed: bool) -> Array:
        """Which elements of the input the loss depends on."""
        concerned = np.full(shape, smoothed)
        concerned[self.places] = True
        if self.counted is not None:
            concerned &= np.expand_dims(self.counted, self.dim)
        return concerned

    def picked(self, x: Array) -> Array:
        """Per target, the element of its class, times the weight of the class."""
        picked = x[self.places]
        return self.masked(picked if self.weights is None else picked * self.weights)


def all_count(target: Array, classes: int, ignore_index: int) -> bool:
    """Whether every target is a class and none is to be ignored."""
    if not target.size:
        return True
    # as unsigned numbers negative ones are huge: one comparison checks both ends
    unsigned = target.view(np.uint64) if target.dtype == np.int64 else target
    if np.maximum.reduce(unsigned, axis=None) >= classes:
        return False
    return not (0 <= ignore_index < classes and (target == ignore_index).any())


def _check_bounds(index: Array, classes: int) -> None:
    outside = (index < 0) | (index >= classes)
    if outside.any():
        raise fail(
            IndexError,
            call=f"a loss over {classes} classes",
            cause=f"Target {index[outside].flat[0]} is out of bounds.",
            fix=f"targets are class indices from 0 to {classes - 1}, or ignore_index",
        )


def checked_target(input: Tensor, target: Tensor, weight: Tensor | None, name: str) -> Tensor:
    """The target in the shape of the input without its class dimension."""
    arguments = {"input": input, "target": target, "weight": weight}
    if input.ndim == 0:
        raise refusal(
            ValueError,
            name,
            arguments,
            "Expected 1 or more dimensions (got 0)",
            "pass one number per class",
        )
    if target.dtype not in (dtypes.int64, dtypes.uint8):
        raise refusal(
            RuntimeError,
            name,
            arguments,
            f"expected target dtype to be int64 or uint8, but got {target.dtype.name}",
            "convert class indices with target.long(); class probabilities need the input's shape",
        )
    if input.ndim == 1 and target.numel() == 1:
        target = target.reshape(())
    sizes, dim = input._array.shape, class_dim(input.ndim)
    expected = sizes[:dim] + sizes[dim + 1 :]
    if target._array.shape != expected:
        if input.ndim > 1 and target.ndim and target.shape[0] != input.shape[0]:
            raise refusal(
                ValueError,
                name,
                arguments,
                f"Expected input batch_size ({input.shape[0]}) to match target batch_size "
                f"({target.shape[0]}).",
                "pass one class index per row of the input",
            )
        raise refusal(
            RuntimeError,
            name,
            arguments,
            f"Expected target size {list(expected)}, got {list(target.shape)}"
            + (" (multi-target not supported)" if input.ndim <= 2 else ""),
            "the target has the input's shape without the class dimension: try target.squeeze()",
        )
    if weight is not None:
        check_weight(input, target, weight, name)
    return target


def check_weight(input: Tensor, target: Tensor, weight: Tensor, name: str) -> None:
    """Raise unless there is one weight per class, a constant."""
    arguments = {"input": input, "target": target, "weight": weight}
    classes = input.shape[class_dim(input.ndim)]
    if weight.shape != (classes,):
        raise refusal(
            RuntimeError,
            name,
            arguments,
            f"weight tensor should be defined either for all {classes} classes or no classes but "
            f"got weight tensor of shape: {list(weight.shape)}",
            "pass one weight per class",
        )
    if weight.dtype is not input.dtype:
        raise refusal(
            RuntimeError,
            name,
            arguments,
            f"expected scalar type {input.dtype.name} but found {weight.dtype.name}",
            "convert it: weight.to(input.dtype)",
        )
    if weight.requires_grad:
        raise refusal(
            RuntimeError,
            name,
            arguments,
            "the loss is not differentiable with respect to argument 'weight'. "
            "This input cannot have requires_grad True.",
            "pass weight.detach()",
        )
