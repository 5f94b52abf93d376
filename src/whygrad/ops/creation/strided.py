"""Tensors over given strides, buffers and files, and single numbers."""

from __future__ import annotations

import operator
import warnings
from typing import Any, Unpack

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.creation.creation import (
    Options,
    build,
    filled,
    filled_in,
    new_shape,
    number_and_dtype,
)
from whygrad.ops.define import composite, creation
from whygrad.tensor import Tensor, dtypes, wrap
from whygrad.tensor.memory import strided

Array = Any
Shape = tuple[int, ...]


def _with_strides(name: str, shape: Shape, stride: Any, options: Any, like: Any = None) -> Tensor:
    steps = tuple(map(operator.index, stride))
    if len(steps) != len(shape):
        raise fail(
            RuntimeError,
            call=f"{name}({shape}, {steps})",
            cause=f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides "
            f"({len(steps)})",
            fix="pass one stride per size",
        )
    if min(steps, default=0) < 0:
        raise fail(
            RuntimeError,
            call=f"{name}({shape}, {steps})",
            cause=f"{name}: Negative strides are not supported",
            fix="pass strides of 0 or more",
        )
    reach = sum((size - 1) * step for size, step in zip(shape, steps, strict=True))

    def make(dtype: Any) -> Array:
        memory = np.empty(0 if 0 in shape else reach + 1, dtype)
        return strided(memory, shape, tuple(step * dtype.itemsize for step in steps))

    if like is None:
        return build(name, shape, make, options)
    return build(name, shape, make, options, like.dtype, like.device)


def empty_strided(size: Any, stride: Any, **options: Unpack[Options]) -> Tensor:
    """Memory as it is found, with the given strides."""
    return _with_strides("empty_strided", new_shape("empty_strided", (size,)), stride, options)


def new_empty_strided(input: Tensor, size: Any, stride: Any, **options: Unpack[Options]) -> Tensor:
    """``empty_strided`` with dtype and device of ``input``."""
    shape = new_shape("new_empty_strided", (size,))
    return _with_strides("new_empty_strided", shape, stride, options, input)


def empty_permuted(size: Any, physical_layout: Any, **options: Unpack[Options]) -> Tensor:
    """Memory as it is found, its dimensions from slowest to fastest in the given order."""
    shape = new_shape("empty_permuted", (size,))
    order = tuple(map(operator.index, physical_layout))
    if sorted(order) != list(range(len(shape))):
        raise fail(
            RuntimeError,
            call=f"empty_permuted({shape}, {order})",
            cause="Number of dimensions in size does not match the length of the "
            "physical_layout, or a dimension is missing from it or named twice",
            fix="name every dimension once",
        )
    steps, step = [0] * len(shape), 1
    for dim in reversed(order):
        steps[dim] = step
        step *= max(shape[dim], 1)
    return _with_strides("empty_permuted", shape, steps, options)


def scalar_tensor(s: Any, **options: Unpack[Options]) -> Tensor:
    """One number as a 0-d tensor of the default dtype."""
    value, _ = number_and_dtype(s)
    dtype = dtypes.default_complex() if isinstance(value, complex) else None
    return build("scalar_tensor", (), lambda chosen: filled((), value, chosen), options, dtype)


def frombuffer(
    buffer: Any,
    *,
    dtype: Any,
    count: int = -1,
    offset: int = 0,
    requires_grad: bool = False,
) -> Tensor:
    """A 1-d tensor over the memory of a buffer: bytes, bytearray, array, memoryview, …"""
    chosen, memory = dtypes.of(dtype), memoryview(buffer).cast("B")
    size, item = memory.nbytes, chosen.itemsize
    cause = ""
    if size <= 0 or count == 0:
        cause = f"both buffer length ({size}) and count ({count}) must not be 0"
    elif not 0 <= offset < size:
        cause = f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
        cause += f"({size} bytes) minus 1"
    elif count < 0 and (size - offset) % item:
        cause = f"buffer length ({size - offset} bytes) after offset ({offset} bytes) must be a "
        cause += f"multiple of element size ({item})"
    elif count > 0 and offset + count * item > size:
        cause = f"requested buffer length ({count} * {item} bytes) after offset ({offset} bytes) "
        cause += f"must not be greater than actual buffer length ({size} bytes)"
    if cause:
        raise fail(
            ValueError,
            call=f"frombuffer({describe(buffer)}, dtype={chosen}, count={count}, offset={offset})",
            cause=cause,
            fix="pass a count and an offset that stay inside the buffer",
        )
    if memory.readonly:
        warnings.warn(
            "The given buffer is not writable, so the tensor over it is read-only; "
            "clone() it to get memory of its own",
            UserWarning,
            stacklevel=3,
        )
    made = wrap(np.frombuffer(buffer, chosen.numpy, count, offset))
    return made.requires_grad_(requires_grad)


def from_file(
    filename: Any,
    shared: bool | None = None,
    size: int | None = 0,
    **options: Unpack[Options],
) -> Tensor:
    """The numbers of a file as a 1-d tensor; ``shared``: what is written to it goes to the file.

    A shared file that is too short is made longer.
    """
    from pathlib import Path  # its import takes longer than that of this whole family

    path, count = Path(filename), size or 0

    def make(dtype: Any) -> Array:
        needed = count * dtype.itemsize
        present = path.stat().st_size if path.exists() else 0
        if shared:
            if present < needed:
                with path.open("ab") as file:
                    file.truncate(needed)
        elif present < needed:
            raise fail(
                RuntimeError,
                call=f"from_file({str(filename)!r}, size={size})",
                cause=f"the file has {present} bytes, and {needed} are asked for",
                fix="ask for fewer, or pass shared=True to make the file longer",
            )
        mode: Any = "r+" if shared else "c"
        return (
            np.asarray(np.memmap(path, dtype, mode, shape=(count,)))
            if count
            else np.empty(0, dtype)
        )

    return build("from_file", (count,), make, options)


creation(
    empty_strided,
    "y = memory as it is found, with the given strides",
    samples=lambda make: [
        make.around(filled_in, (2, 3), (1, 2)),
        make.around(filled_in, (2, 0), (1, 1), dtype=dtypes.int32),
    ],
)
composite(
    new_empty_strided,
    "y = memory as it is found, with the given strides and the dtype of x",
    differentiable=False,
    torch="Tensor.new_empty_strided",
    samples=lambda make: [make.around(filled_in, make.ints(2), (2, 3), (1, 2))],
)
creation(
    empty_permuted,
    "y = memory as it is found, its dimensions laid out in the given order",
    samples=lambda make: [make.around(filled_in, (2, 3, 4), (1, 2, 0))],
)
creation(
    scalar_tensor,
    "y = a number",
    samples=lambda make: [make.call(2), make.call(1.5, dtype=dtypes.float64), make.call(True)],
)
creation(
    frombuffer,
    "y = the memory of a buffer",
    samples=lambda make: [
        make.around(lambda read, size, **kw: read(bytearray(size), **kw), 12, dtype=dtypes.int32),
        make.around(
            lambda read, size, **kw: read(bytearray(range(size)), **kw),
            12,
            dtype=dtypes.int16,
            count=3,
            offset=2,
        ),
    ],
)


def _from_zeros(read: Any, count: int) -> Any:
    """A sample: a file of zeros, gone again after the call."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "numbers"
        path.write_bytes(bytes(4 * count))
        return read(str(path), size=count).clone()


creation(
    from_file,
    "y = the numbers of a file",
    samples=lambda make: [make.around(_from_zeros, 3)],
)
