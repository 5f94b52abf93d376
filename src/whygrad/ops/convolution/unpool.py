"""Back from pooled values to the size before: each value at the position it was taken from."""

from __future__ import annotations

import operator
from math import prod
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import all_numbers
from whygrad.ops.define import composite
from whygrad.tensor import Tensor

__all__: list[str] = []

Sizes = tuple[int, ...]


def _refuse(name: str, input: Tensor, indices: Tensor, cause: str, fix: str, kind: Any) -> Any:
    call = f"{name}({describe(input)}, {describe(indices)}, …)"
    return fail(kind, call=call, cause=cause, fix=fix)


def _output_sizes(
    name: str, dims: int, input: Tensor, indices: Tensor, kernel: Sizes, stride: Sizes,
    padding: Sizes, output_size: Any,
) -> Sizes:  # fmt: skip
    usual = tuple(
        (size - 1) * step - 2 * pad + taps
        for size, step, pad, taps in zip(input.shape[-dims:], stride, padding, kernel, strict=True)
    )
    if output_size is None:
        return usual
    wanted = tuple(map(operator.index, output_size))
    if len(wanted) == dims + 2:
        wanted = wanted[2:]
    if len(wanted) != dims:
        raise _refuse(
            name, input, indices,
            f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it "
            f"has a length of '{len(wanted)}'", "pass the size of the input of the pooling",
            ValueError,
        )  # fmt: skip
    for each, size, step in zip(wanted, usual, stride, strict=True):
        if not size - step < each < size + step:
            raise _refuse(
                name, input, indices,
                f'invalid output_size "{list(wanted)}": {each} is not between {size - step} and '
                f"{size + step}", "pass the size of the input of the pooling", ValueError,
            )  # fmt: skip
    return wanted


def _unpool(name: str, input: Tensor, indices: Tensor, sizes: Sizes) -> Tensor:
    dims = len(sizes)
    if indices.dtype.name != "int64":
        raise _refuse(
            name, input, indices,
            f"elements in indices should be type int64 but got: {indices.dtype.name}",
            "pass what the pooling returned with return_indices=True", RuntimeError,
        )  # fmt: skip
    if input.ndim not in (dims + 1, dims + 2) or input.shape != indices.shape:
        raise _refuse(
            name, input, indices,
            f"Expected input of {dims + 1} or {dims + 2} dimensions and shape of indices to match "
            f"shape of input, but got {list(input.shape)} and {list(indices.shape)}",
            "pass both results of the pooling", RuntimeError,
        )  # fmt: skip
    room = prod(sizes)
    if indices.device != "meta":
        numbers = all_numbers(indices)
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < room:
            wrong = numbers[(numbers < 0) | (numbers >= room)].flat[0]
            raise _refuse(
                name, input, indices,
                f"Found an invalid max index: {wrong} (output volumes are of size "
                f"{'x'.join(map(str, sizes))})", "pass the output_size of the pooling's input",
                RuntimeError,
            )  # fmt: skip
    leading = tuple(input.shape[:-dims])
    flat = input.new_zeros((*leading, room))
    placed = flat.scatter(-1, indices.reshape(*leading, -1), input.reshape(*leading, -1))
    return placed.reshape(*leading, *sizes)


def _numbers(value: Any, dims: int) -> Sizes:
    if isinstance(value, (tuple, list)):
        found = tuple(map(operator.index, value))
        return found * dims if len(found) == 1 else found
    return (operator.index(value),) * dims


def _declare(dims: int, samples: Any) -> None:
    name = f"max_unpool{dims}d"

    def unpool(
        input: Tensor,
        indices: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        output_size: Any = None,
    ) -> Tensor:
        kernel = _numbers(kernel_size, dims)
        steps = kernel if stride is None else _numbers(stride, dims)
        border = _numbers(padding, dims)
        sizes = _output_sizes(name, dims, input, indices, kernel, steps, border, output_size)
        return _unpool(name, input, indices, sizes)

    unpool.__name__ = unpool.__qualname__ = name
    unpool.__doc__ = f"""Values put where ``max_pool{dims}d`` found them, zeros elsewhere.

    ``indices`` are what the pooling returned with ``return_indices=True``; several sizes can lead
    to the same pooled size, ``output_size`` says which one it was.
    """
    composite(
        unpool,
        "y[indices] = x, 0 elsewhere;  ∂x = incoming[indices]",
        samples=samples,
        torch=f"nn.functional.{name}",
        autocast="float32",
    )


_declare(
    1,
    lambda make: [
        make.call(make(1, 2, 2), np.array([[[1, 2], [0, 3]]]), 2),
        make.call(make(2, 3), np.array([[1, 2, 5], [0, 3, 6]]), 2, output_size=(7,)),
    ],
)
_declare(
    2,
    lambda make: [
        make.call(make(1, 1, 2, 2), np.array([[[[0, 3], [9, 14]]]]), 2),
        make.call(make(1, 1, 2), np.array([[[1, 8]]]), (2, 3), stride=2, output_size=[1, 1, 2, 6]),
    ],
)
_declare(3, lambda make: [make.call(make(1, 1, 1, 2, 1), np.array([[[[[3], [6]]]]]), (2, 1, 2))])
