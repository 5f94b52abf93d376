"""New tensors that take after an existing one: ``zeros_like``, ``new_full`` and their kin.

Derivative rules use ``zeros_like``, ``ones_like``, ``new_zeros`` and ``new_full`` too, so these
four are primitives that a backend can give kernels of its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Unpack

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.batching import leading_dims
from whygrad.ops.creation.creation import (
    Options,
    Shape,
    build,
    filled,
    filled_in,
    new_shape,
    number_and_dtype,
    size_argument,
)
from whygrad.ops.creation.literals import array_from
from whygrad.ops.define import Op, composite, creation, define, public_form
from whygrad.tensor import Tensor, devices, dtypes, keys
from whygrad.tensor.above import above
from whygrad.tensor.graph import lineage
from whygrad.tensor.memory import preserve_format

__all__ = ["in_layout_of", "require_tensor"]

Array = Any


def _as_it_is(input: Tensor, options: Options) -> bool:
    """Whether the options ask for nothing but what ``input`` is already."""
    return (
        options.keys() <= Options.__annotations__.keys()
        and not options.get("requires_grad")
        and options.get("memory_format") in (None, preserve_format)
        and options.get("layout") in (None, input.layout)
        and (options.get("dtype") is None or dtypes.of(options["dtype"]) is input.dtype)
        and (options.get("device") is None or devices.of(options["device"]) == input.device)
    )


def require_tensor(name: str, input: Any) -> None:
    if not isinstance(input, Tensor):
        raise fail(
            TypeError,
            call=f"{name}({describe(input)})",
            cause=f"argument 'input' must be Tensor, not {type(input).__name__}",
            fix=f"use {name.removesuffix('_like')}(size) to make one from a shape",
        )


def in_layout_of(input: Tensor) -> Callable[[Any], Array]:
    """Makes an array with the shape of ``input`` and its order of strides, contents undefined."""
    if type(input._array) is np.ndarray:
        return lambda dtype: np.empty_like(input._array, dtype)
    return lambda dtype: np.empty(input.shape, dtype)


def arranged_like(values: Array, like: Tensor | None) -> Array:
    """The same values with the order of strides of ``like``, unless it repeats its elements."""
    array = None if like is None else like._array
    if type(array) is not np.ndarray or array.flags.c_contiguous or 0 in array.strides:
        return values
    arranged = np.empty_like(array, values.dtype)
    arranged[...] = values
    return arranged


def _built_like(
    name: str,
    input: Tensor,
    shape: Shape,
    make: Callable[[Tensor, Shape, Any], Array],
    options: Options,
) -> Tensor:
    """``make(input, shape, NumPy dtype)``; inside ``vmap``, samples of their own for a batch.

    What takes after a batched tensor can be written to sample by sample.
    """
    if input._keys & keys.BATCHED:
        batch: Tensor = input._array.tensor
        made = _built_like(name, batch, (batch.shape[0], *shape), make, options)
        return above.add_batch(made, input._array.level)

    def filled_array(dtype: Any) -> Array:
        return make(input, shape, dtype)

    return build(name, shape, filled_array, options, input.dtype, input.device)


def _filled_like(value: Any) -> Callable[[Tensor, Shape, Any], Array]:
    """One number everywhere, in the layout of the tensor it takes after."""

    def make(like: Tensor, shape: Shape, dtype: Any) -> Array:
        array = in_layout_of(like)(dtype)
        array[...] = filled((), value, dtype)
        return array

    return make


def _constant_like(op: Op, value: int) -> None:
    """Give a primitive ``op(x)`` its public form with PyTorch's options."""
    name = op.name

    @public_form(op)
    def constant_like(input: Tensor, **options: Unpack[Options]) -> Tensor:
        require_tensor(name, input)
        if _as_it_is(input, options):
            made: Tensor = op.call(input)
            return made

        return _built_like(name, input, input.shape, _filled_like(value), options)


_constant_like(
    define(
        "zeros_like(x)",
        "y = 0, shaped like x",
        forward=lambda x: np.zeros_like(x),
        vjp=None,
        meta=lambda x: (x.shape, x.dtype),
        batching=leading_dims,
        method=False,
        samples=lambda make: [
            make.call(make(3, 4)),
            make.call(make.ints(2)),
            make.call(make(), dtype=dtypes.int32),
        ],
    ),
    0,
)
_constant_like(
    define(
        "ones_like(x)",
        "y = 1, shaped like x",
        forward=lambda x: np.ones_like(x),
        vjp=None,
        meta=lambda x: (x.shape, x.dtype),
        batching=leading_dims,
        method=False,
        samples=lambda make: [
            make.call(make(3, 4)),
            make.call(make.ints(2)),
            make.call(make(), dtype=dtypes.bool_),
        ],
    ),
    1,
)
_zeros = define(
    "new_zeros(x; shape)",
    "y = 0 in the given shape, with dtype and device of x",
    forward=lambda x, shape: np.zeros(shape, x.dtype),
    vjp=None,
    meta=lambda x, shape: (shape, x.dtype),
    batching=lambda xp, x, shape, batch: xp.new_zeros(x, (batch, *shape)),
    torch="Tensor.new_zeros",
    samples=lambda make: [
        make.call(make(3), (2, 3)),
        make.call(make.ints(2), 2, 3),
        make.call(make(3), (), dtype=dtypes.int8),
    ],
)
_full = define(
    "new_full(x; shape, value)",
    "y = value in the given shape, with dtype and device of x",
    forward=lambda x, shape, value: filled(shape, value, x.dtype),
    vjp=None,
    meta=lambda x, shape, value: (shape, x.dtype),
    batching=lambda xp, x, shape, value, batch: xp.new_full(x, (batch, *shape), value),
    torch="Tensor.new_full",
    samples=lambda make: [
        make.call(make(3), (2, 3), 1.5),
        make.call(make.ints(2), (), 7),
        make.call(make.ints(2), (2,), 2.7),
        make.call(make(3), (2,), 1, dtype=dtypes.bool_),
    ],
)


@public_form(_zeros)
def new_zeros(input: Tensor, *size: Any, **options: Unpack[Options]) -> Tensor:
    """Zeros, with dtype and device of ``input``."""
    shape = size_argument("new_zeros", size, options)
    return _new(_zeros, input, (shape,), options, lambda _, shape, dtype: np.zeros(shape, dtype))


@public_form(_full)
def new_full(input: Tensor, size: Any, fill_value: Any, **options: Unpack[Options]) -> Tensor:
    """``fill_value`` everywhere, with dtype and device of ``input``."""
    shape, value = new_shape("new_full", (size,)), number_and_dtype(fill_value)[0]
    return _new(
        _full, input, (shape, value), options, lambda _, shape, dtype: filled(shape, value, dtype)
    )


def _new(
    op: Op,
    input: Tensor,
    params: tuple[Any, ...],
    options: Any,
    make: Callable[[Tensor, Shape, Any], Array],
) -> Tensor:
    if _as_it_is(input, options):
        made: Tensor = op.call(input, *params)
        return made
    return _built_like(op.name, input, params[0], make, options)


def full_like(input: Tensor, fill_value: Any, **options: Unpack[Options]) -> Tensor:
    """``fill_value`` everywhere, shaped like ``input`` and of its dtype."""
    require_tensor("full_like", input)
    value = number_and_dtype(fill_value)[0]
    return _built_like("full_like", input, input.shape, _filled_like(value), options)


def empty_like(input: Tensor, **options: Unpack[Options]) -> Tensor:
    """Memory as it is found, shaped like ``input``."""
    require_tensor("empty_like", input)
    return _built_like(
        "empty_like", input, input.shape, lambda like, _, dtype: in_layout_of(like)(dtype), options
    )


def new_ones(input: Tensor, *size: Any, **options: Unpack[Options]) -> Tensor:
    """Ones, with dtype and device of ``input``."""
    return new_full(input, size_argument("new_ones", size, options), 1, **options)


def new_empty(input: Tensor, *size: Any, **options: Unpack[Options]) -> Tensor:
    """Memory as it is found, with dtype and device of ``input``."""
    shape = size_argument("new_empty", size, options)
    return _built_like(
        "new_empty", input, shape, lambda _, shape, dtype: np.empty(shape, dtype), options
    )


def new_tensor(input: Tensor, data: Any, **options: Unpack[Options]) -> Tensor:
    """A copy of ``data``, with dtype and device of ``input``."""
    if isinstance(data, Tensor):
        warnings.warn(
            "new_tensor(t) copies the values and leaves the graph of t behind; "
            "t.detach().clone() says so",
            UserWarning,
            stacklevel=2,
        )
    chosen = input.dtype if options.get("dtype") is None else dtypes.of(options["dtype"])
    array = array_from(data, chosen, "new_tensor")
    made = build("new_tensor", array.shape, lambda _: array, options, chosen, input.device)
    return lineage.copied(made, data)


creation(
    full_like,
    "y = value, shaped like x",
    samples=lambda make: [
        make.call(make(3, 4), 2),
        make.call(make.ints(2), 2.7),
        make.call(make(2), 1.5, dtype=dtypes.float64),
    ],
)
creation(
    empty_like,
    "y = memory as it is found, shaped like x",
    samples=lambda make: [
        make.around(filled_in, make.constant(make(2, 3))),
        make.around(filled_in, make.ints(2), dtype=dtypes.float64),
    ],
)
composite(
    new_ones,
    "y = 1 in the given shape, with dtype and device of x",
    differentiable=False,
    torch="Tensor.new_ones",
    samples=lambda make: [make.call(make(2), 3, 2), make.call(make.ints(2), (3,))],
)
composite(
    new_empty,
    "y = memory as it is found, with dtype and device of x",
    differentiable=False,
    torch="Tensor.new_empty",
    samples=lambda make: [make.around(filled_in, make.ints(2), 3, 2)],
)
composite(
    new_tensor,
    "y = a copy of the data, with dtype and device of x",
    differentiable=False,
    torch="Tensor.new_tensor",
    samples=lambda make: [make.call(make(2), [1, 2]), make.call(make.ints(2), [1.5, 2.5])],
)
