"""Changing what the elements are or where they live."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops import complex_numbers
from whygrad.ops.batching import leading_dims
from whygrad.ops.creation.transfer import move
from whygrad.ops.define import composite, define
from whygrad.ops.undefined import TOO_LARGE, Undefined, always
from whygrad.tensor import Tensor, alias, devices, dtypes
from whygrad.tensor.graph import lineage

__all__ = ["TENSOR_TYPES", "install", "is_tensor", "type_target"]

Array = Any


def _cast(x: Array, dtype: dtypes.DType) -> Array:
    if x.dtype.kind == "c" and dtype.category < dtypes.COMPLEX:
        if dtype.category == dtypes.BOOL:
            return x != 0
        warnings.warn(
            "Casting complex values to real discards the imaginary part; "
            "use x.real to say that this is meant",
            UserWarning,
            stacklevel=2,
        )
        x = x.real
    return x.astype(dtype.numpy)


def _cast_back(xp: Any, incoming: Array, dtype: dtypes.DType) -> Array:
    """A real number has no imaginary gradient."""
    if complex_numbers.is_complex(incoming) and not dtype.is_complex:
        incoming = xp.real_part(incoming)
    return xp.cast(incoming, dtype)


def _cast_args(input: Tensor, dtype: Any) -> tuple[Tensor, dtypes.DType]:
    """Gradients end where numbers become integers: nothing to record there."""
    chosen = dtypes.of(dtype)
    if chosen.category >= dtypes.FLOAT:
        return input, chosen
    if input._node is None:
        return input.detach(), chosen
    kind = "boolean" if chosen.category == dtypes.BOOL else "integer"
    return lineage.cut(input, alias(input), kind, "to"), chosen


cast = define(
    "cast(x; dtype)",
    "y = x rounded to another dtype;  ∂x = incoming rounded back",
    undefined=(Undefined(always, "the number is too large for the new dtype", TOO_LARGE),),
    forward=_cast,
    vjp={"x": lambda xp, incoming, x_dtype: _cast_back(xp, incoming, dtypes.of(x_dtype))},
    linear=True,
    meta=lambda x, dtype: (x.shape, dtype.numpy),
    batching=leading_dims,
    public=_cast_args,
    method=False,
    torch="Tensor.to",
    samples=lambda make: [
        make.call(make(3, 4), dtypes.float64),
        make.call(make.constant(make(3, 4)), dtypes.float32),
        make.call(make(3), dtypes.int64),
        make.call(make(), dtypes.bool_),
        make.call(make.ints(3), dtypes.float64),
        make.call(make.ints(3, low=-500, high=500), dtypes.uint8),
        make.call(make.constant(make(0, 2)), dtypes.complex128),
    ],
)


def to(
    input: Tensor,
    *target: Any,
    dtype: Any = None,
    device: Any = None,
    non_blocking: bool = False,
    copy: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """``to(dtype)``, ``to(device, dtype)``, ``to(other)``: the tensor itself if nothing changes.

    ``non_blocking`` is taken as in PyTorch and changes nothing here.
    """
    if target:
        dtype, device, copy = _target(input, target, dtype, device, copy)
    chosen = input.dtype if dtype is None else dtypes.of(dtype)
    place = input.device if device is None else devices.of(device)
    result = input
    if chosen is not input.dtype:
        result = cast.public(input, chosen)
    if place.key != input.device.key:
        result = move(result, place)
    if memory_format is not None and not result.is_contiguous(memory_format):
        return result.clone(memory_format=memory_format)
    return result.clone() if copy and result is input else result


def _target(
    input: Tensor, target: tuple[Any, ...], dtype: Any, device: Any, copy: bool
) -> tuple[Any, Any, bool]:
    """Sort PyTorch's positional forms: one target, maybe a dtype, then the two flags."""
    first, *rest = target
    given = (dtype, device)
    if isinstance(first, Tensor):
        dtype, device = first.dtype, first.device
    elif isinstance(first, (devices.Device, str)):
        device = first
        if rest and not isinstance(rest[0], bool):
            dtype = rest.pop(0)
    elif isinstance(getattr(first, "dtype", None), dtypes.DType):
        rest = [first]  # a tensor type, which type() takes and to() does not
    elif first is None or isinstance(first, (dtypes.DType, type)) or hasattr(first, "itemsize"):
        dtype = first
    else:
        rest = [first]
    # what stands in a position may not be named again; a dtype alone leaves the device where it is
    twice = given[1] is not None or (given[0] is not None and given[0] is not dtype)
    if isinstance(first, (devices.Device, str)):
        twice = twice or (given[0] is not None and len(target) > 1 + len(rest))
    else:
        twice = twice or given[0] is not None
    if twice or len(rest) > 2 or not all(isinstance(flag, bool) for flag in rest):
        raise fail(
            TypeError,
            call=f"to({', '.join(map(describe, target))}) of {describe(input)}",
            cause="to() received an invalid combination of arguments",
            fix="use to(dtype), to(device), to(device, dtype) or to(other), then "
            "non_blocking and copy",
        )
    return dtype, device, rest[1] if len(rest) == 2 else copy


def type_as(input: Tensor, other: Tensor) -> Tensor:
    """``input`` in the dtype of ``other``."""
    return to(input, other)


def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are float16, bfloat16, float32 or float64."""
    return _dtype_of("is_floating_point", input).is_floating_point


def is_complex(input: Tensor) -> bool:
    """Whether the elements are complex."""
    return _dtype_of("is_complex", input).is_complex


def _dtype_of(name: str, input: Any) -> dtypes.DType:
    if not isinstance(input, Tensor):
        raise fail(
            TypeError,
            call=f"{name}({describe(input)})",
            cause=f"argument 'input' must be Tensor, not {type(input).__name__}",
            fix="pass a tensor, or look at isinstance(x, float)",
        )
    return input.dtype


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a whygrad tensor."""
    return isinstance(obj, Tensor)


composite(
    to,
    "y = x with another dtype or on another device",
    torch="Tensor.to",
    samples=lambda make: [
        make.call(make(3, 4), dtype=dtypes.float64),
        make.call(make(3), dtypes.float64, copy=True),
        make.call(make(3), make.constant(make(1))),
        make.call(make(3), "cpu", dtypes.float64),
        make.call(make.ints(3), dtypes.float32, False, True),
    ],
)
composite(
    type_as,
    "y = x in the dtype of another tensor",
    torch="Tensor.type_as",
    samples=lambda make: [make.call(make(3), make.ints(2)), make.call(make.ints(3), make(2))],
)
composite(
    is_floating_point,
    "whether x holds floats",
    differentiable=False,
    samples=lambda make: [make.call(make(3)), make.call(make.ints(2))],
)
composite(
    is_complex,
    "whether x holds complex numbers",
    differentiable=False,
    samples=lambda make: [make.call(make(3))],
)

# Method that converts, PyTorch's name of the tensor type, dtype.
_SHORTCUTS = (
    ("bfloat16", "BFloat16Tensor", dtypes.bfloat16),
    ("bool", "BoolTensor", dtypes.bool_),
    ("byte", "ByteTensor", dtypes.uint8),
    ("cdouble", "ComplexDoubleTensor", dtypes.complex128),
    ("cfloat", "ComplexFloatTensor", dtypes.complex64),
    ("char", "CharTensor", dtypes.int8),
    ("double", "DoubleTensor", dtypes.float64),
    ("float", "FloatTensor", dtypes.float32),
    ("half", "HalfTensor", dtypes.float16),
    ("int", "IntTensor", dtypes.int32),
    ("long", "LongTensor", dtypes.int64),
    ("short", "ShortTensor", dtypes.int16),
)


TENSOR_TYPES = {name: dtype for _, name, dtype in _SHORTCUTS}


def _converter(name: str, dtype: dtypes.DType) -> Callable[..., Tensor]:
    def convert(self: Tensor, memory_format: Any = None) -> Tensor:
        return to(self, dtype)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"``to(whygrad.{dtype.name})``"
    return convert


def type_(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> str | Tensor:
    """The name of the tensor type, or a conversion: ``x.type(whygrad.float64)``."""
    if dtype is None:
        name = next(name for name, known in TENSOR_TYPES.items() if known is self.dtype)
        space = "" if self.device.type == "cpu" else f"{self.device.type}."
        return f"whygrad.{space}{'' if self.layout is devices.strided else 'sparse.'}{name}"
    return to(self, *type_target(dtype))


def type_target(kind: Any) -> tuple[Any, ...]:
    """The device and the dtype that a tensor type, its name or a dtype stands for."""
    if isinstance(kind, dtypes.DType):
        return (kind,)
    if kind is Tensor:
        return devices.cpu, dtypes.get_default_dtype()
    if isinstance(kind, str):
        space, _, name = kind.rpartition(".")
        if space.partition(".")[0] in ("torch", "whygrad") and name in TENSOR_TYPES:
            return devices.of(space.partition(".")[2] or "cpu"), TENSOR_TYPES[name]
    elif isinstance(getattr(kind, "dtype", None), dtypes.DType) and isinstance(kind, type):
        return devices.of(kind.place), kind.dtype  # type: ignore[attr-defined]  # a TensorType
    raise fail(
        ValueError,
        call=f"type({kind!r})",
        cause=f"invalid type: {kind!r}",
        fix="pass a dtype such as whygrad.float64, or a tensor type such as whygrad.DoubleTensor",
    )


def cuda(self: Tensor, device: Any = None, non_blocking: bool = False, **_: Any) -> Tensor:
    """Raises: there is no CUDA here."""
    return to(self, devices.Device("cuda", device if isinstance(device, int) else None))


def xpu(self: Tensor, device: Any = None, non_blocking: bool = False, **_: Any) -> Tensor:
    """Raises: there is no XPU here."""
    return to(self, devices.Device("xpu", device if isinstance(device, int) else None))


def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """This tensor on the CPU; itself if it is there already."""
    return to(self, devices.cpu)


def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """Raises: memory is pinned for a GPU, and there is none."""
    return cuda(self)


def install() -> None:
    """Give ``Tensor`` its shortcuts.

    They are not in the op table because ``whygrad.float`` and its like are dtypes, not functions.
    """
    for name, _, dtype in _SHORTCUTS:
        setattr(Tensor, name, _converter(name, dtype))
    type_.__name__ = "type"
    Tensor.type = type_  # type: ignore[assignment, method-assign]
    Tensor.cpu = cpu  # type: ignore[assignment, method-assign]
    Tensor.cuda = cuda  # type: ignore[assignment, method-assign]
    Tensor.pin_memory = pin_memory  # type: ignore[assignment, method-assign]
    Tensor.xpu = xpu  # type: ignore[assignment, method-assign]
