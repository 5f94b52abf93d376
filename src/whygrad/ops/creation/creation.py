"""Tensors from numbers, arrays and shapes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypedDict, Unpack

import numpy as np

from whygrad.errors import describe, fail
from whygrad.ops.creation.literals import array_from
from whygrad.ops.define import composite, creation
from whygrad.ops.geometry import shape_from
from whygrad.ops.numbers import fitting
from whygrad.tensor import Tensor, alias, devices, dtypes, modes, wrap
from whygrad.tensor.graph import lineage
from whygrad.tensor.memory import MemoryFormat
from whygrad.tensor.storage import InferenceStorage

__all__ = [
    "Options",
    "as_tensor",
    "build",
    "empty",
    "filled",
    "filled_in",
    "new_shape",
    "number_and_dtype",
    "size_argument",
]

Array = Any
Shape = tuple[int, ...]


class Options(TypedDict, total=False):
    """Keywords of every creation function, as in PyTorch."""

    dtype: Any
    layout: Any
    device: Any
    requires_grad: bool
    pin_memory: bool  # accepted and without effect: there is no other memory to copy to
    memory_format: Any


def build(
    name: str,
    shape: Shape,
    make: Callable[[Any], Array],
    options: Options,
    dtype: dtypes.DType | None = None,
    device: devices.Device | None = None,
) -> Tensor:
    """Where all creation functions meet: ``make(NumPy dtype)`` on cpu, geometry alone on meta.

    ``dtype`` and ``device`` are what holds if the user's options name none.
    """
    unknown = options.keys() - Options.__annotations__.keys()
    if unknown:
        raise TypeError(f"{name}() got an unexpected keyword argument {min(unknown)!r}")
    if options.get("dtype") is not None:
        dtype = dtypes.of(options["dtype"])
    elif dtype is None:
        dtype = dtypes.get_default_dtype()
    if options.get("device") is not None:
        device = devices.of(options["device"])
    elif device is None:
        chosen = devices.default.device
        device = devices.cpu if chosen is None else devices.of(chosen)
    if options.get("requires_grad") and dtype.category < dtypes.FLOAT:
        raise fail(
            RuntimeError,
            call=f"{name}(…, dtype={dtype}, requires_grad=True)",
            cause="Only Tensors of floating point and complex dtype can require gradients",
            fix=f"ask for a float: dtype={dtypes.get_default_dtype()}",
        )
    if device.type == "meta":
        made = wrap(devices.meta_array(shape, dtype.numpy))
    else:
        made = wrap(_laid_out(make(dtype.numpy), options.get("memory_format")))
        if modes.state.inference:
            made._storage = InferenceStorage(made._array)
        if device.type != "cpu":
            made = made.to(device)
    return _arranged(name, made, options.get("layout")).requires_grad_(
        options.get("requires_grad", False)
    )


def _laid_out(array: Array, memory_format: MemoryFormat | None) -> Array:
    if memory_format is None or memory_format.holds(array):
        return array
    return memory_format.copied(array)


def _arranged(name: str, made: Tensor, layout: Any) -> Tensor:
    if layout is None or layout is devices.strided:
        return made
    if not isinstance(layout, devices.Layout):
        raise fail(
            TypeError,
            call=f"{name}(…, layout={layout!r})",
            cause=f"argument 'layout' must be a whygrad layout, not {type(layout).__name__}",
            fix="use whygrad.strided, whygrad.sparse_coo or whygrad.sparse_csr",
        )
    return made.to_sparse(layout=layout)


def new_shape(name: str, size: Any) -> Shape:
    """Sizes given as ``zeros(2, 3)``, ``zeros((2, 3))`` or ``zeros(size=(2, 3))``."""
    try:
        shape = shape_from(size)
        if any(isinstance(each, bool) for each in size):
            raise TypeError("'bool' object is not a size")
    except TypeError as error:
        raise fail(
            TypeError,
            call=f"{name}{describe(tuple(size))}",
            cause=f"argument 'size' must be tuple of ints: {error}",
            fix=f"pass whole numbers, {name}(2, 3) or {name}((2, 3))",
        ) from None
    if any(each >= 2**63 for each in shape):
        raise fail(
            TypeError,
            call=f"{name}{shape}",
            cause=f"argument 'size' must be tuple of ints: Overflow when unpacking long long "
            f"{max(shape)}",
            fix="pass sizes that memory can have",
        )
    if any(each < 0 for each in shape):
        raise fail(
            RuntimeError,
            call=f"{name}{shape}",
            cause=f"{name}: Dimension size must be non-negative: "
            f"Trying to create tensor with negative dimension {min(shape)}",
            fix="pass sizes of 0 or more",
        )
    return shape


def size_argument(name: str, size: tuple[Any, ...], options: Any) -> Shape:
    """The positional sizes, or the keyword ``size=``, which is taken out of the options."""
    if size:
        return new_shape(name, size)
    if "size" not in options:
        raise TypeError(f"{name}() missing 1 required positional arguments: 'size'")
    return new_shape(name, (options.pop("size"),))


def tensor(data: Any, **options: Unpack[Options]) -> Tensor:
    """A new tensor that owns a copy of ``data``: numbers, nested lists, an array or a tensor."""
    if isinstance(data, Tensor):
        warnings.warn(
            "whygrad.tensor(t) copies the values and leaves the graph of t behind; "
            "t.detach().clone() says so",
            UserWarning,
            stacklevel=2,
        )
    dtype = None if options.get("dtype") is None else dtypes.of(options["dtype"])
    array = array_from(data, dtype, "tensor")
    made = build("tensor", array.shape, lambda _: array, options, dtypes.by_numpy[array.dtype])
    return lineage.copied(made, data)


def from_numpy(ndarray: Any) -> Tensor:
    """A tensor over the array's own memory: writing to one writes to the other."""
    if not isinstance(ndarray, np.ndarray):
        raise fail(
            TypeError,
            call=f"from_numpy({describe(ndarray)})",
            cause=f"expected np.ndarray (got {type(ndarray).__name__})",
            fix="use whygrad.tensor(data), which copies, or whygrad.as_tensor(data)",
        )
    if not ndarray.dtype.isnative:
        raise fail(
            ValueError,
            call=f"from_numpy(array of dtype {ndarray.dtype.str})",
            cause="given numpy array has byte order different from the native byte order",
            fix="convert it first: array.astype(array.dtype.newbyteorder('='))",
        )
    return lineage.copied(wrap(np.asarray(ndarray)), ndarray)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """``data`` as a tensor, without a copy where memory can be shared, with its graph if any."""
    if device is None:
        device = devices.default.device
    if isinstance(data, np.ndarray):
        data = from_numpy(data)
    if isinstance(data, Tensor):
        return data.to(dtype=dtype, device=device)
    return tensor(data, dtype=dtype, device=device)


def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """Anything array-like as a tensor; ``copy`` says whether memory must or must not be shared.

    ``requires_grad`` is as it was unless given.  ``False`` cuts the result off from what ``obj``
    was computed from; a leaf that is returned as it is stops to require grad.
    """
    if not isinstance(obj, (Tensor, np.ndarray)):
        if hasattr(obj, "__dlpack__"):
            obj = from_dlpack(obj)
        elif isinstance(obj, (bytearray, memoryview)):
            chosen = dtypes.get_default_dtype() if dtype is None else dtypes.of(dtype)
            obj = np.frombuffer(obj, chosen.numpy)
    made = as_tensor(obj, dtype, device)
    shared = isinstance(obj, (Tensor, np.ndarray)) and made._array is getattr(obj, "_array", obj)
    if copy is False and not shared:
        raise fail(
            ValueError,
            call=f"asarray({describe(obj)}, copy=False)",
            cause="can't alias arbitrary sequence, or another dtype or device, into a tensor",
            fix="leave copy out to copy where it is needed",
        )
    if copy and shared:
        made = made.clone()
    if requires_grad is None or requires_grad == made.requires_grad:
        return made
    if requires_grad or (made is obj and made.is_leaf):
        return made.requires_grad_(requires_grad)
    return lineage.cut(made, alias(made), "copied", "asarray")


def from_dlpack(ext_tensor: Any) -> Tensor:
    """A tensor over the memory of another library's array (PyTorch, NumPy, …), without a copy."""
    try:
        return wrap(np.from_dlpack(ext_tensor))
    except (AttributeError, TypeError, RuntimeError, BufferError) as error:
        raise fail(
            RuntimeError,
            call=f"from_dlpack({type(ext_tensor).__name__})",
            cause=f"from_dlpack received an object it cannot share memory with: {error}",
            fix="pass a CPU array that supports __dlpack__ and has a dtype NumPy knows",
        ) from error


def zeros(*size: Any, **options: Unpack[Options]) -> Tensor:
    """All zeros."""
    shape = size_argument("zeros", size, options)
    return build("zeros", shape, lambda dtype: np.zeros(shape, dtype), options)


def ones(*size: Any, **options: Unpack[Options]) -> Tensor:
    """All ones."""
    shape = size_argument("ones", size, options)
    return build("ones", shape, lambda dtype: np.ones(shape, dtype), options)


def empty(*size: Any, **options: Unpack[Options]) -> Tensor:
    """Memory as it is found: fill it before reading."""
    shape = size_argument("empty", size, options)
    return build("empty", shape, lambda dtype: np.empty(shape, dtype), options)


def full(size: Any, fill_value: Any, **options: Unpack[Options]) -> Tensor:
    """``fill_value`` everywhere, in its own kind of dtype."""
    shape = new_shape("full", size if isinstance(size, (tuple, list)) else (None,))
    value, dtype = number_and_dtype(fill_value)
    return build("full", shape, lambda chosen: filled(shape, value, chosen), options, dtype)


def filled(shape: Shape, value: Any, dtype: Any) -> Array:
    """``np.full`` with PyTorch's rules for a value of another kind."""
    number = fitting(value, dtypes.by_numpy[dtype])
    if number is None:
        raise fail(
            RuntimeError,
            call=f"a {dtype.name} tensor filled with {describe(value)}",
            cause=f"value cannot be converted to type {dtype.name} without overflow",
            fix="choose a dtype that can hold the value",
        )
    return np.full(shape, number, dtype)


def number_and_dtype(value: Any) -> tuple[Any, dtypes.DType]:
    """A Python number, and the dtype a tensor made from it would have."""
    if isinstance(value, Tensor):
        return value.item(), value.dtype
    if isinstance(value, np.generic):
        return value.item(), dtypes.by_numpy[value.dtype]
    return value, dtypes.result_type(value)


def eye(n: int, m: int | None = None, **options: Unpack[Options]) -> Tensor:
    """Ones on the diagonal, zeros elsewhere."""
    columns = n if m is None else m
    for label, size in (("n", n), ("m", columns)):
        if size < 0:
            raise fail(
                RuntimeError,
                call=f"eye({n}, {m})",
                cause=f"{label} must be greater or equal to 0, got {size}",
                fix="pass the number of rows and of columns",
            )
    return build("eye", (n, columns), lambda dtype: np.eye(n, columns, dtype=dtype), options)


def filled_in(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Samples of functions that promise no values compare what is left: shape and dtype."""
    return function(*args, **kwargs).zero_()


creation(
    tensor,
    "y = a copy of the data",
    samples=lambda make: [
        make.call([[1.0, 2.5], [3, 4]]),
        make.call(3),
        make.call([True, False]),
        make.call([1, 2], dtype=dtypes.float64),
        make.call([1.5, -2.7], dtype=dtypes.int32),
        make.call([[], []]),
        make.call([1 + 2j, 3]),
    ],
)
composite(
    as_tensor,
    "y = the data, shared where possible",
    method=False,
    samples=lambda make: [make.call(make(3)), make.call([1, 2.5]), make.call(make.ints(2))],
)
creation(
    asarray,
    "y = the data, shared where possible or as copy= says",
    samples=lambda make: [make.call([1.0, 2.0]), make.call(3), make.call(make.ints(2), copy=True)],
)
creation(
    from_numpy,
    "y = the array's own memory",
    samples=lambda make: [make.around(lambda share, size: share(np.arange(size)), 3)],
)
creation(
    from_dlpack,
    "y = another library's memory",
    samples=lambda make: [make.around(lambda share, size: share(np.arange(size)), 3)],
)
creation(
    zeros,
    "y = 0",
    samples=lambda make: [
        make.call(2, 3),
        make.call((2, 0)),
        make.call(()),
        make.call(size=(2,)),
        make.call(3, dtype=dtypes.int8),
    ],
)
creation(
    ones,
    "y = 1",
    samples=lambda make: [make.call(2, 3), make.call([2]), make.call(3, dtype=dtypes.bool_)],
)
creation(
    empty,
    "y = memory as it is found",
    samples=lambda make: [
        make.around(filled_in, 2, 3),
        make.around(filled_in, (2, 0), dtype=dtypes.int64),
    ],
)
creation(
    full,
    "y = value",
    samples=lambda make: [
        make.call((2, 3), 1.5),
        make.call((2,), 7),
        make.call((), True),
        make.call((2,), 2.7, dtype=dtypes.int64),
        make.call((2,), 1j),
    ],
)
creation(
    eye,
    "y[i, j] = 1 where i = j, else 0",
    samples=lambda make: [make.call(3), make.call(2, 4), make.call(0), make.call(2, m=3)],
)
