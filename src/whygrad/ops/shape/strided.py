"""``as_strided``: any geometry over a tensor's memory.

The result depends on where the input's elements lie, so its derivatives cannot simply apply it
to a gradient or a tangent, which lie elsewhere.  They use ``restride``, the same map between
*elements*: lay the input out with the recorded strides, then read with the wanted ones.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.define import define
from whygrad.ops.geometry import shape_from
from whygrad.tensor import Tensor, keys
from whygrad.tensor.memory import may_overlap, strided

Array = Any
Shape = tuple[int, ...]


def _positions(shape: Shape, strides: Shape, start: int = 0) -> Array:
    """Where each element lies, in elements from the input's first one."""
    positions = np.full(shape, start)
    for dim, (size, stride) in enumerate(zip(shape, strides, strict=True)):
        positions += (np.arange(size) * stride).reshape(-1, *(1,) * (len(shape) - dim - 1))
    return positions


def _extent(shape: Shape, strides: Shape, start: int = 0) -> tuple[int, int]:
    """The lowest and the highest position of an element."""
    if 0 in shape:
        return 0, 0
    reach = [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
    return start + sum(min(each, 0) for each in reach), start + sum(max(each, 0) for each in reach)


class _Scratch:
    """Zeros that can be seen with the geometry of the input (inner) and the wanted one (outer)."""

    def __init__(
        self, dtype: Any, shape: Shape, source: Shape, size: Shape, stride: Shape, offset: int
    ) -> None:
        lows, highs = zip(_extent(shape, source), _extent(size, stride, offset), strict=True)
        self.start, step = -min(lows), dtype.itemsize
        self.memory = np.zeros(max(highs) + self.start + 1, dtype)
        self.inner = strided(
            self.memory, shape, tuple(each * step for each in source), self.start * step
        )
        self.outer = strided(
            self.memory, size, tuple(each * step for each in stride), (self.start + offset) * step
        )


def _restride(x: Array, size: Shape, stride: Shape, offset: int, source: Shape) -> Array:
    scratch = _Scratch(x.dtype, x.shape, source, size, stride, offset)
    scratch.inner[...] = x
    return scratch.outer.copy()


def _restride_backward(
    x: Array, shape: Shape, size: Shape, stride: Shape, offset: int, source: Shape
) -> Array:
    scratch = _Scratch(x.dtype, shape, source, size, stride, offset)
    if may_overlap(size, stride):
        np.add.at(scratch.memory, _positions(size, stride, scratch.start + offset), x)
    else:
        scratch.outer[...] = x
    return scratch.inner


def _copy_slices(
    base: Array, part: Array, size: Shape, stride: Shape, offset: int, source: Shape
) -> Array:
    scratch = _Scratch(base.dtype, base.shape, source, size, stride, offset)
    scratch.inner[...] = base
    scratch.outer[...] = part
    return scratch.inner


def _for_batch(
    batch: int, shape: Shape, size: Shape, stride: Shape, offset: int, source: Shape
) -> tuple[Shape, Shape, int, Shape]:
    """The geometry in which every sample has memory of its own, one sample after the other."""
    lows, highs = zip(_extent(shape, source), _extent(size, stride, offset), strict=True)
    apart = max(highs) - min(lows) + 1
    return (batch, *size), (apart, *stride), offset, (apart, *source)


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
        )
    here = input.storage_offset()
    start = here if storage_offset is None else operator.index(storage_offset)
    problem = _problem(input, shape, steps, start)
    if problem is None and _shows_more(input, shape, steps, start - here):
        return _as_strided_args(input._base, shape, steps, start)  # type: ignore[arg-type]
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
        )
    return input, shape, steps, start - here, input.stride()


def _shows_more(input: Tensor, shape: Shape, steps: Shape, offset: int) -> bool:
    """Whether elements outside the view ``input`` are wanted: their derivative is the base's."""
    base = input._base
    if base is None or base.dtype is not input.dtype or base._keys & keys.LAYOUTS:
        return False
    if (base._node is None) != (input._node is None):  # cut off from each other
        return False
    wanted = _positions(shape, steps, offset)
    return not np.isin(wanted, _positions(tuple(input.shape), input.stride())).all()


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
    complex_rule="holomorphic",
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
    batching=lambda xp, x, size, stride, offset, source: xp.restride(
        x, *_for_batch(x.shape[0], x.shape[1:], size, stride, offset, source)
    ),
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
    batching=lambda xp, x, shape, size, stride, offset, source: xp.restride_backward(
        x,
        (x.shape[0], *shape),
        *_for_batch(x.shape[0], shape, size, stride, offset, source),
    ),
    samples=lambda make: [make.call(make(2, 2), (2, 3), (2, 2), (1, 1), 2, (3, 1))],
)
define(
    "copy_slices(base, part; size, stride, offset, source)",
    "y = base with part written into a view of it;  ∂base = incoming, 0 where written,  "
    "∂part = what of incoming the view shows",
    forward=_copy_slices,
    vjp={
        "base": lambda xp, incoming, size, stride, offset, source: xp.copy_slices(
            incoming, xp.new_zeros(incoming, size), size, stride, offset, source
        ),
        "part": lambda xp, incoming, size, stride, offset, source: xp.restride(
            incoming, size, stride, offset, source
        ),
    },
    linear=True,
    internal=True,
    meta=lambda base, part, size, stride, offset, source: (base.shape, base.dtype),
    batching=lambda xp, base, part, size, stride, offset, source: xp.copy_slices(
        base, part, *_for_batch(base.shape[0], base.shape[1:], size, stride, offset, source)
    ),
    notes="Recorded for a write through a view: the base gets this history, and every view of it "
    "becomes an as_strided of the base.",
    samples=lambda make: [
        make.call(make(2, 3), make(2, 2), (2, 2), (3, 1), 1, (3, 1)),
        make.call(make(4), make(), (), (), 2, (1,)),
    ],
)
