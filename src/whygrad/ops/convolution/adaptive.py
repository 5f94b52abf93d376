"""Pooling into a wanted number of windows.

Window i of n over a dimension of size s goes from ⌊i·s/n⌋ to ⌈(i+1)·s/n⌉.  Where n divides s these
are ordinary windows.  Elsewhere they differ in size and overlap: picking their elements one window
after the other, with the last one repeated in shorter windows, makes ordinary windows of them.
"""

from __future__ import annotations

import operator
from math import prod
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.convolution.avg_pool import avg_pool
from whygrad.ops.convolution.max_pool import max_pool, window_positions
from whygrad.ops.convolution.windows import Dims
from whygrad.ops.define import composite
from whygrad.ops.namespace import recorded
from whygrad.ops.ties import straight
from whygrad.tensor import Tensor, wrap

__all__ = ["averages"]

Array = Any


class _Irregular:
    """The windows over one dimension, made equally long."""

    def __init__(self, size: int, count: int) -> None:
        numbers = np.arange(count)
        starts = numbers * size // max(count, 1)
        lengths = -(-(numbers + 1) * size // max(count, 1)) - starts
        self.longest = int(lengths.max(initial=1))
        steps = np.arange(self.longest)
        self.inside = steps < lengths[:, None]
        self.lengths = lengths
        self.index = np.minimum(starts[:, None] + steps, (starts + lengths - 1)[:, None]).ravel()


def _checked(name: str, dims: int, input: Tensor, output_size: Any) -> tuple[Dims, Dims]:
    """The sizes of the pooled dimensions and the wanted ones."""

    def refused(cause: str, fix: str) -> RuntimeError:
        return fail(
            RuntimeError,
            call=f"{name}(input: {describe(input)}, output_size={output_size})",
            cause=f"{name}(): {cause}",
            fix=fix,
        )

    if input.ndim not in (dims + 1, dims + 2):
        raise refused(
            f"Expected {dims + 1}D or {dims + 2}D tensor, but got {list(input.shape)}",
            f"pass (samples, channels, *{dims} sizes), or one sample without the first",
        )
    sizes = tuple(input.shape[-dims:])
    if 0 in sizes:
        raise refused(
            "Expected input to have non-zero size for non-batch dimensions, but input has sizes "
            f"{list(input.shape)} with dimension {input.ndim - dims + sizes.index(0)} being empty",
            "skip samples without extent",
        )
    if not isinstance(output_size, (tuple, list)):
        output_size = (output_size,) * dims
    if len(output_size) != dims:
        raise refused(
            f"output_size must be {dims} number{'s' if dims > 1 else ''}, got {len(output_size)}",
            f"give one size for each of the last {dims} dimensions",
        )
    wanted = tuple(
        size if dims > 1 and each is None else operator.index(each)
        for each, size in zip(output_size, sizes, strict=True)
    )
    if min(wanted) < 0:
        raise refused(
            "elements of output_size must be greater than or equal to 0 but received "
            f"{list(wanted)}",
            "output_size counts the windows",
        )
    return sizes, wanted


def _divides(sizes: Dims, wanted: Dims) -> bool:
    return all(count and size % count == 0 for size, count in zip(sizes, wanted, strict=True))


def _on_device(array: Array, like: Tensor) -> Tensor:
    return wrap(array).to(like.device)


def _average(input: Tensor, sizes: Dims, wanted: Dims) -> Tensor:
    dims = len(sizes)
    if not input.dtype.is_floating_point:
        raise fail(
            NotImplementedError,
            call=f"an average over windows of {describe(input)}",
            cause=f"adaptive_avg_pool{dims}d is not implemented for {input.dtype.name} tensors",
            fix="convert the input first: x.float()",
        )
    if prod(wanted) == 1:
        return input.mean(tuple(range(-dims, 0)), True)
    if _divides(sizes, wanted):
        kernel = tuple(size // count for size, count in zip(sizes, wanted, strict=True))
        return avg_pool(input, kernel, kernel, ((0, 0),) * dims, prod(kernel))
    input = straight(input)
    for dim, (size, count) in enumerate(zip(sizes, wanted, strict=True), input.ndim - dims):
        windows = _Irregular(size, count)
        after = (1,) * (input.ndim - dim - 1)
        shape = tuple(input.shape)
        picked = recorded.index_select(input, _on_device(windows.index, input), dim)
        picked = picked.reshape((*shape[:dim], count, windows.longest, *shape[dim + 1 :]))
        inside = windows.inside.reshape(count, windows.longest, *after)
        picked = recorded.where(_on_device(inside, input), picked, 0.0)
        lengths = _on_device(windows.lengths.reshape(count, *after), input)
        input = picked.sum(dim + 1) / lengths.to(input.dtype)
    return input


def _maximum(input: Tensor, sizes: Dims, wanted: Dims) -> tuple[Tensor, Tensor]:
    dims = len(sizes)
    none = (((0, 0),) * dims, (1,) * dims)
    if _divides(sizes, wanted):
        kernel = tuple(size // count for size, count in zip(sizes, wanted, strict=True))
        values, places = max_pool(input, kernel, kernel, *none)
        return values, window_positions(places, kernel, kernel, *none)
    all_windows = [_Irregular(*pair) for pair in zip(sizes, wanted, strict=True)]
    for dim, windows in enumerate(all_windows, input.ndim - dims):
        input = recorded.index_select(input, _on_device(windows.index, input), dim)
    kernel = tuple(windows.longest for windows in all_windows)
    values, places = max_pool(input, kernel, kernel, *none)
    positions = window_positions(places, kernel, kernel, *none)
    picked = np.ix_(*(windows.index for windows in all_windows))
    origin = np.ravel_multi_index(picked, sizes).reshape(-1)
    return values, recorded.index(_on_device(origin, input), positions, (0,))


def averages(input: Tensor, output_size: Any) -> Tensor:
    """The mean of each of ``output_size`` windows over all dimensions after the second."""
    dims = input.ndim - 2
    return _average(input, *_checked(f"adaptive_avg_pool{dims}d", dims, input, output_size))


def _declare(dims: int, average_samples: Any, maximum_samples: Any) -> None:
    def average(input: Tensor, output_size: Any) -> Tensor:
        return _average(input, *_checked(average.__name__, dims, input, output_size))

    def maximum(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        found = _maximum(input, *_checked(maximum.__name__, dims, input, output_size))
        return found if return_indices else found[0]

    def with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
        return maximum(input, output_size, True)

    for function, name, word in (
        (average, f"adaptive_avg_pool{dims}d", "mean"),
        (maximum, f"adaptive_max_pool{dims}d", "largest element"),
        (with_indices, f"adaptive_max_pool{dims}d_with_indices", "largest element and its place"),
    ):
        function.__name__ = function.__qualname__ = name
        function.__doc__ = f"The {word} of each of ``output_size`` windows; None keeps a size."
    composite(
        average,
        "y = mean of window i, from ⌊i·size/count⌋ to ⌈(i+1)·size/count⌉",
        samples=average_samples,
        torch=f"nn.functional.{average.__name__}",
        autocast="float32" if dims == 3 else None,
    )
    for function, samples in (
        (maximum, maximum_samples),
        (with_indices, lambda make: maximum_samples(make)[:1]),
    ):
        composite(
            function,
            "y = max of window i, from ⌊i·size/count⌋ to ⌈(i+1)·size/count⌉",
            samples=samples,
            torch=f"nn.functional.{function.__name__}",
            autocast="float32" if dims == 3 else None,
        )


_declare(
    1,
    lambda make: [
        make.call(make(2, 3, 6), 3),
        make.call(make(3, 7), 3),
        make.call(make(1, 2, 5), 1),
        make.call(make(1, 2, 3), 5),
        make.call(make(0, 2, 5), 2),
    ],
    lambda make: [
        make.call(make.distinct(2, 3, 6), 3),
        make.call(make.distinct(3, 7), 3, return_indices=True),
        make.call(make.distinct(1, 2, 3), 5),
    ],
)
_declare(
    2,
    lambda make: [
        make.call(make(2, 2, 4, 6), 2),
        make.call(make(2, 5, 4), (3, None)),
        make.call(make(1, 2, 5, 5), 1),
        make.call(make(1, 2, 5, 7), (2, 3)),
        make.call(make(1, 2, 2, 3), (3, 5)),
        make.call(make.constant(make(1, 2, 3, 3)), (0, 2)),
        make.call(make(0, 2, 5, 5), 2),
    ],
    lambda make: [
        make.call(make.distinct(2, 2, 4, 6), 2, return_indices=True),
        make.call(make.distinct(2, 5, 4), (3, None)),
        make.call(make.distinct(1, 2, 5, 7), (2, 3), return_indices=True),
        make.call(make.distinct(1, 2, 2, 3), (3, 5)),
        make.call(make(0, 2, 5, 5), 2),
    ],
)
_declare(
    3,
    lambda make: [make.call(make(1, 2, 3, 4, 5), (1, 2, 3)), make.call(make(1, 4, 2, 2), 2)],
    lambda make: [
        make.call(make.distinct(1, 2, 3, 4, 5), (1, 2, 3), return_indices=True),
        make.call(make.distinct(1, 4, 2, 2), 2),
    ],
)
