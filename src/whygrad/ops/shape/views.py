"""Views of all elements: the same memory seen with another shape or order of dimensions.

A view op shares its input's storage.  Kernels use ndarray methods and :func:`memory.strided`
only, never functions that read elements, so they serve meta tensors too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import align, leading_dims, shift, shift_dims
from whygrad.ops.define import composite, define
from whygrad.ops.geometry import normalize_dim, normalize_dims, shape_from
from whygrad.tensor import Tensor, dtypes
from whygrad.tensor.memory import (
    MemoryFormat,
    contiguous_format,
    expanded_strides,
    preserve_format,
    resolve_shape,
    strided,
    view_strides,
)

Array = Any
Shape = tuple[int, ...]


def _sizes(given: tuple[Any, ...], keyword: Any, call: str) -> Shape:
    """Sizes from ``f(2, 3)``, ``f((2, 3))`` or ``f(size=(2, 3))``."""
    if keyword is not None:
        given = (keyword,)
    if not given:
        raise fail(
            TypeError,
            call=f"{call}()",
            cause=f'{call}() missing 1 required positional argument: "size"',
            fix=f"name the sizes: {call}(2, 3) or {call}((2, 3))",
        )
    return shape_from(given)


def _view(x: Array, shape: Shape) -> Array:
    shape = resolve_shape(shape, x.size)
    strides = view_strides(x.shape, x.strides, shape, x.itemsize)
    if strides is None:
        raise fail(
            RuntimeError,
            call=f"view of a tensor with shape {x.shape} and strides "
            f"{tuple(stride // x.itemsize for stride in x.strides)} as {shape}",
            cause="view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces)",
            fix="use reshape(), which copies when it must",
        )
    if x.flags.c_contiguous:
        seen = x.reshape(shape)
        if seen.strides == strides:
            return seen
    return strided(x, shape, strides)


def _view_args(input: Tensor, *shape: Any, size: Any = None, dtype: Any = None) -> Any:
    """The same memory in another shape, or read as another dtype of the same width."""
    if len(shape) == 1 and isinstance(shape[0], dtypes.DType) and dtype is None:
        (dtype,), shape = shape, ()
    if dtype is not None:
        if shape or size is not None:
            raise fail(
                TypeError,
                call=f"view({', '.join(map(str, shape))}, dtype={dtype}) of {describe(input)}",
                cause="view() received an invalid combination of arguments: a shape and a dtype",
                fix="one after the other: x.view(dtype).view(shape)",
            )
        return _view_dtype(input, dtype), tuple(input.shape)
    return input, _sizes(shape, size, "view")


def _view_dtype_args(input: Tensor, dtype: Any) -> Any:
    target = dtypes.of(dtype)
    if target.itemsize != input.dtype.itemsize:
        raise fail(
            RuntimeError,
            call=f"view({target}) of {describe(input)}",
            cause=f"{input.dtype} and {target} have different element sizes "
            f"({input.dtype.itemsize} and {target.itemsize} bytes)",
            fix="use to(dtype) to convert the values",
        )
    return input, target


_view_dtype = define(
    "view_dtype(x; dtype)",
    "y = the bits of x read as another dtype;  no gradient",
    forward=lambda x, dtype: x.view(dtype.numpy),
    vjp=None,
    kind="view",
    batching=leading_dims,
    public=_view_dtype_args,
    method=False,
    torch="Tensor.view",
    samples=lambda make: [make.call(make.ints(3, 4), dtypes.int64)],
).public
_view_op = define(
    "view(x; shape)",
    "y = x in another shape, same memory;  ∂x = incoming in the shape of x",
    forward=_view,
    vjp={"x": lambda xp, incoming, x_shape: xp.reshape(incoming, x_shape)},
    kind="view",
    linear=True,
    batching=lambda xp, x, shape, batch: xp.view(x, (batch, *shape)),
    public=_view_args,
    torch="Tensor.view",
    samples=lambda make: [
        make.call(make(3, 4), 2, 6),
        make.call(make(3, 4), -1),
        make.call(make(3, 4), (3, 1, 2, -1)),
        make.call(make(), 1, 1),
        make.call(make(1), ()),
        make.call(make(0, 3), 3, 0),
    ],
)
view = _view_op.public


def reshape(input: Tensor, *shape: Any, size: Any = None) -> Tensor:
    """The elements in another shape: a view when strides allow it, a copy otherwise."""
    array = input._array
    target = resolve_shape(_sizes(shape, size, "reshape"), input.numel())
    strides = getattr(array, "strides", None)  # payloads without leave it to their view kernel
    if strides is not None and view_strides(array.shape, strides, target, array.itemsize) is None:
        copy: Tensor = _view_op.call(clone(input, memory_format=contiguous_format), target)
        copy._base = None  # of the clone nobody knows
        return copy
    return _view_op.call(input, target)


composite(
    reshape,
    "y = x in another shape, a view if possible, else a copy",
    kernel=lambda x, shape: x.reshape(shape),
    samples=lambda make: [
        make.call(make(3, 4), (2, 6)),
        make.call(make(3, 4), (-1,)),
        make.call(make(), (1,)),
        make.call(make(0, 3), (3, 0, 2)),
    ],
)


def _clone(x: Array, memory_format: MemoryFormat = preserve_format) -> Array:
    return memory_format.copied(x)


def _clone_args(input: Tensor, *, memory_format: Any = None) -> Any:
    return input, preserve_format if memory_format is None else _known_format(input, memory_format)


def _known_format(input: Tensor, memory_format: Any) -> MemoryFormat:
    """A memory format that tensors like ``input`` can have."""
    if not isinstance(memory_format, MemoryFormat):
        raise fail(
            TypeError,
            call=f"memory_format={memory_format!r}",
            cause="argument 'memory_format' must be a memory format, "
            f"not {type(memory_format).__name__}",
            fix="use whygrad.contiguous_format or whygrad.channels_last",
        )
    if memory_format.dims is not None and input.ndim != len(memory_format.dims):
        raise fail(
            RuntimeError,
            call=f"memory_format={memory_format!r} for {describe(input)}",
            cause=f"required rank {len(memory_format.dims)} tensor to use {memory_format.name} "
            "format",
            fix="leave memory_format out, or give it batch, channels and positions",
        )
    return memory_format


clone = define(
    "clone(x; memory_format)",
    "y = a copy of x;  ∂y/∂x = 1",
    forward=_clone,
    vjp={"x": lambda xp, incoming: incoming},
    linear=True,
    meta=lambda x, memory_format=preserve_format: (x.shape, x.dtype),
    batching=leading_dims,
    public=_clone_args,
    samples=lambda make: [
        make.call(make(3, 4)),
        make.call(make()),
        make.call(make(0, 2)),
    ],
).public


def contiguous(input: Tensor, memory_format: Any = contiguous_format) -> Tensor:
    """This tensor itself if its elements lie in row-major order, else a copy that does."""
    if _known_format(input, memory_format) is preserve_format:
        raise fail(
            RuntimeError,
            call="contiguous(memory_format=whygrad.preserve_format)",
            cause="preserve memory format is unsupported by the contiguous operator",
            fix="leave memory_format out",
        )
    if input.is_contiguous(memory_format):
        return input
    return clone(input, memory_format=memory_format)


composite(
    contiguous,
    "y = x in row-major order: x itself, or a copy",
    kernel=lambda x: np.asarray(x, order="C"),
    torch="Tensor.contiguous",
    samples=lambda make: [make.call(make(3, 4)), make.call(make())],
)


def _expand(x: Array, shape: Shape) -> Array:
    return strided(x, shape, expanded_strides(x.shape, x.strides, shape))


def _expand_args(input: Tensor, *sizes: Any, size: Any = None) -> Any:
    """Repeat along new or size-1 dimensions without copying; −1 keeps a size."""
    wanted = _sizes(sizes, size, "expand")
    if min(wanted, default=0) >= 0:
        return input, wanted
    extra = len(wanted) - input.ndim
    for dim, each in enumerate(wanted):
        if each < -1 or (each == -1 and dim < extra):
            raise fail(
                RuntimeError,
                call=f"expand{wanted} of {describe(input)}",
                cause=f"The expanded size of the tensor ({each}) isn't allowed in a leading, "
                f"non-existing dimension {dim}"
                if each == -1
                else f"size {each} at dimension {dim} is negative",
                fix="give a size; -1 keeps the size of an existing dimension",
            )
    kept = (1,) * extra + tuple(input.shape)
    return input, tuple(old if new == -1 else new for old, new in zip(kept, wanted))


expand = define(
    "expand(x; shape)",
    "y = x repeated along new or size-1 dimensions, no copy;  ∂x = Σ incoming over the copies",
    forward=_expand,
    vjp={"x": lambda xp, incoming: incoming},
    kind="view",
    linear=True,
    batching=lambda xp, x, shape, batch: xp.expand(align(x, len(shape)), (batch, *shape)),
    public=_expand_args,
    torch="Tensor.expand",
    samples=lambda make: [
        make.call(make(3, 1), 3, 4),
        make.call(make(2), 3, 2),
        make.call(make(1, 3), (2, -1, -1)),
        make.call(make(), 2, 3),
        make.call(make(3), 1, 1, 3),
        make.call(make(1, 3), 0, 3),
    ],
).public


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """``expand`` to the shape of ``other``."""
    return expand(input, other.shape)


def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """``expand`` under NumPy's name."""
    return expand(input, size)


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """All tensors expanded to their common shape."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    shapes = [tuple(each.shape) for each in tensors]
    try:
        common = np.broadcast_shapes(*shapes)
    except ValueError:
        raise fail(
            RuntimeError,
            call=f"broadcast_tensors({', '.join(map(describe, tensors))})",
            cause="shape mismatch: objects cannot be broadcast to a single shape",
            fix="sizes must be equal or 1, counted from the last dimension",
        ) from None
    return tuple(expand(each, common) for each in tensors)


composite(
    expand_as,
    "y = x expanded to the shape of another tensor",
    torch="Tensor.expand_as",
    samples=lambda make: [make.call(make(3, 1), make.constant(make(2, 3, 4)))],
)
composite(
    broadcast_to,
    "y = x expanded to a shape, no copy",
    samples=lambda make: [make.call(make(3, 1), (2, 3, 4)), make.call(make(), (2,))],
)
composite(
    broadcast_tensors,
    "y₁, y₂, … = x₁, x₂, … expanded to their common shape",
    method=False,
    samples=lambda make: [make.call(make(3, 1), make(4), make())],
)


def _squeeze(x: Array, dim: Shape) -> Array:
    shape = x.shape
    return x.squeeze(tuple(each for each in dim if shape and shape[each] == 1))


def _squeeze_args(input: Tensor, dim: Any = None) -> Any:
    """Drop dimensions of size 1: all, or those among ``dim``."""
    if dim is None:
        return input, tuple(range(input.ndim))
    return input, normalize_dims(dim, input.ndim, "squeeze")


squeeze = define(
    "squeeze(x; dim)",
    "y = x without its dimensions of size 1;  ∂x = incoming in the shape of x",
    forward=_squeeze,
    vjp={"x": lambda xp, incoming, x_shape: xp.reshape(incoming, x_shape)},
    kind="view",
    linear=True,
    batching=shift_dims("dim"),
    public=_squeeze_args,
    samples=lambda make: [
        make.call(make(1, 3, 1)),
        make.call(make(1, 3, 1), -1),
        make.call(make(1, 3, 1), 1),
        make.call(make(1, 3, 1, 2), (0, 1, 2)),
        make.call(make(), 0),
    ],
).public


def _unsqueeze(x: Array, dim: int) -> Array:
    shape, strides = x.shape, x.strides
    if dim < 0:
        dim += len(shape) + 1
    step = shape[dim] * strides[dim] if dim < len(shape) else x.itemsize
    return strided(
        x, (*shape[:dim], 1, *shape[dim:]), (*strides[:dim], step, *strides[dim:])
    )  # fmt: skip


unsqueeze = define(
    "unsqueeze(x; dim)",
    "y = x with a new dimension of size 1 at dim;  ∂x = incoming without it",
    forward=_unsqueeze,
    vjp={"x": lambda xp, incoming, dim: xp.squeeze(incoming, (dim,))},
    kind="view",
    linear=True,
    batching=lambda xp, x, dim: xp.unsqueeze(x, shift(dim)),
    public=lambda input, dim: (input, normalize_dim(dim, input.ndim + 1, "unsqueeze")),
    samples=lambda make: [
        make.call(make(3, 4), 0),
        make.call(make(3, 4), -1),
        make.call(make(3, 4), 1),
        make.call(make(), 0),
        make.call(make(0, 2), 1),
    ],
).public
