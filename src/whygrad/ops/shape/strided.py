"""``as_strided``: any geometry over a tensor's memory.

The result depends on where the input's elements lie, so its derivatives cannot simply apply it
to a gradient or a tangent, which lie elsewhere.  They use ``restride``, the same map between
*elements*: lay the input out with the recorded strides, then read with the wanted ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad import keys
from whygrad.autograd.source import caller
from whygrad.errors import describe, fail
from whygrad.memory import strided
from whygrad.ops.define import define
from whygrad.ops.geometry import shape_from
from whygrad.tensor import Tensor

Array = Any
Shape = tuple[int, ...]


def _positions(shape: Shape, strides: Shape, start: int = 0) -> Array:
    """Where each element lies, in elements from the input's first one."""
    positions = np.full(shape, start)
    for dim, (size, stride) in enumerate(zip(shape, strides, strict=True)):
        positions += (np.arange(size) * stride).reshape(-1, *(1,) * (len(shape) - dim - 1))
    return positions


def _both_positions(
    shape: Shape, source: Shape, size: Shape, stride: Shape, offset: int
) -> tuple[Array, Array, int]:
    """Positions of input and output in a buffer that starts at 0, and its length."""
    inner, outer = _positions(shape, source), _positions(size, stride, offset)
    low = min(inner.min(initial=0), outer.min(initial=0))
    length = max(inner.max(initial=0), outer.max(initial=0)) - low + 1
    return inner - low, outer - low, int(length)


def _restride(x: Array, size: Shape, stride: Shape, offset: int, source: Shape) -> Array:
    inner, outer, length = _both_positions(x.shape, source, size, stride, offset)
    memory = np.zeros(length, x.dtype)
    memory[inner] = x
    return memory[outer]


def _restride_backward(
    x: Array, shape: Shape, size: Shape, stride: Shape, offset: int, source: Shape
) -> Array:
    inner, outer, length = _both_positions(shape, source, size, stride, offset)
    memory = np.zeros(length, x.dtype)
    np.add.at(memory, outer, x)
    return memory[inner]


def _as_strided_args(input: Tensor, size: Any, stride: Any, storage_offset: Any = None) -> Any:
    """A view of the input's storage with the given sizes, strides and offset (in elements)."""
    shape, steps = shape_from((size,)), shape_from((stride,))
    if input._keys & keys.BATCHED:
        raise fail(
            RuntimeError,
            call=f"as_strided({describe(input)}, size={shape}, stride={steps}), inside vmap",
            cause="vmap does not support as_strided: what lies around a sample in memory belongs "
            "to other samples",
            fix="use views that name dimensions: view, transpose, narrow, unfold, diagonal",
            where=caller(),
        )
    here = input.storage_offset()
    start = here if storage_offset is None else int(storage_offset)
    problem = _problem(input, shape, steps, start)
    if problem is None and input.requires_grad:
        places = _positions(tuple(input.shape), input.stride())
        if np.unique(places).size != places.size:
            problem = "its gradient is not defined: several elements of the input share memory"
    if problem is not None:
        raise fail(
            RuntimeError,
            call=f"as_strided({describe(input)}, size={shape}, stride={steps}, "
            f"storage_offset={storage_offset})",
            cause=problem,
            fix="stay within the storage of the input, or use clone() first",
            where=caller(),
        )
    return input, shape, steps, start - here, input.stride()


def _problem(input: Tensor, shape: Shape, steps: Shape, start: int) -> str | None:
    if len(shape) != len(steps):
        return "mismatch in length of strides and shape"
    if min(steps, default=0) < 0:
        return f"as_strided: Negative strides are not supported, got strides: {list(steps)}"
    if start < 0:
        return f"Tensor: invalid storage offset {start}"
    if 0 in shape:
        return None
    last = start + sum((count - 1) * step for count, step in zip(shape, steps, strict=True))
    needed, present = (last + 1) * input.element_size(), input.untyped_storage().nbytes()
    if needed > present:
        return (
            f"setStorage: sizes {list(shape)}, strides {list(steps)}, storage offset {start} "
            f"require a storage size of {needed}, out of bounds for storage of size {present}"
        )
    return None


define(
    "as_strided(x; size, stride, offset, source)",
    "y = the memory of x with any geometry;  ∂x = Σ incoming over the elements that show x",
    forward=lambda x, size, stride, offset, source: strided(
        x, size, tuple(step * x.itemsize for step in stride), offset * x.itemsize
    ),
    vjp={
        "x": lambda xp, incoming, x_shape, size, stride, offset, source: xp.restride_backward(
            incoming, x_shape, size, stride, offset, source
        )
    },
    jvp=lambda xp, tangents, size, stride, offset, source: xp.restride(
        tangents[0], size, stride, offset, source
    ),
    kind="view",
    public=_as_strided_args,
    samples=lambda make: [
        make.call(make(6), (2, 3), (3, 1)),
        make.call(make(6), (2, 2), (1, 1), 2),
        make.call(make(2, 3), (3,), (2,), 1),
        make.call(make(3), (2, 3), (0, 1)),
    ],
)
define(
    "restride(x; size, stride, offset, source)",
    "y = x laid out with strides source, read with size, stride and offset;  ∂x = its adjoint",
    forward=_restride,
    vjp={
        "x": lambda xp, incoming, x_shape, size, stride, offset, source: xp.restride_backward(
            incoming, x_shape, size, stride, offset, source
        )
    },
    linear=True,
    internal=True,
    meta=lambda x, size, stride, offset, source: (size, x.dtype),
    samples=lambda make: [make.call(make(2, 3), (2, 2), (1, 1), 2, (3, 1))],
)
define(
    "restride_backward(x; shape, size, stride, offset, source)",
    "y = each element of x added to the element it was read from;  ∂x = restride of incoming",
    forward=_restride_backward,
    vjp={
        "x": lambda xp, incoming, size, stride, offset, source: xp.restride(
            incoming, size, stride, offset, source
        )
    },
    linear=True,
    internal=True,
    meta=lambda x, shape, size, stride, offset, source: (shape, x.dtype),
    samples=lambda make: [make.call(make(2, 2), (2, 3), (2, 2), (1, 1), 2, (3, 1))],
)
