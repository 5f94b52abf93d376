"""Tensor types of PyTorch's first years: ``FloatTensor(2, 3)``, ``isinstance(x, LongTensor)``.

A type is a dtype on a device.  Calling one makes a tensor of sizes (memory as it is found) or of
numbers; the tensor itself is a plain :class:`~whygrad.Tensor`.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops import functions
from whygrad.ops.creation.conversion import TENSOR_TYPES
from whygrad.tensor import Tensor, alias, devices, dtypes
from whygrad.tensor.memory import Size

__all__ = ["TensorType", "set_default_tensor_type", "tensor_type", "typename"]


class TensorType(type):
    """The class of ``FloatTensor`` and its like."""

    dtype: dtypes.DType
    place: str
    layout = devices.strided
    is_sparse = False

    @property
    def is_cuda(cls) -> bool:
        return cls.place == "cuda"

    def __instancecheck__(cls, other: Any) -> bool:
        return (
            isinstance(other, Tensor)
            and other.dtype is cls.dtype
            and other.device.type == cls.place
            and other.layout is devices.strided
        )

    def __call__(cls, *data: Any, size: Any = None, device: Any = None) -> Tensor:
        if cls.place != "cpu":
            raise fail(
                TypeError,
                call=f"{cls!r}(…)",
                cause=f"this type is not available: there is no {cls.place.upper()} here",
                fix=f"use whygrad.{cls.__name__}",
            )
        if device is not None and devices.Device(device).type != "cpu":
            raise fail(
                RuntimeError,
                call=f"{cls!r}(…, device={str(device)!r})",
                cause=f"legacy constructor expects device type: cpu but device type: "
                f"{devices.Device(device).type} was passed",
                fix=f"use whygrad.tensor(data, dtype={cls.dtype!r}, device=…)",
            )
        return old_style(repr(cls), data if size is None else (Size(size),), cls.dtype)

    def __repr__(cls) -> str:
        space = "" if cls.place == "cpu" else f"{cls.place}."
        return f"whygrad.{space}{cls.__name__}"

    def __reduce__(cls) -> tuple[Any, ...]:
        return tensor_type, (cls.__name__, cls.place)


@cache
def tensor_type(name: str, place: str = "cpu") -> TensorType:
    """The type of this name on this device."""
    module = "whygrad" if place == "cpu" else f"whygrad.{place}"
    made = TensorType(name, (), {"__module__": module})
    made.dtype, made.place = TENSOR_TYPES[name], place
    return made


def old_style(call: str, data: tuple[Any, ...], dtype: dtypes.DType | None) -> Any:
    """What the constructors mean: sizes, numbers, or a tensor, whose memory is shared.

    ``dtype`` None is ``Tensor`` itself: the default float, and any tensor.
    """
    chosen = dtypes.get_default_dtype() if dtype is None else dtype
    first = data[0] if len(data) == 1 else None
    if isinstance(first, Size):
        return functions["empty"](first, dtype=chosen, device="cpu")
    if all(isinstance(each, int) and not isinstance(each, bool) for each in data):
        return functions["empty"](data or (0,), dtype=chosen, device="cpu")
    if isinstance(first, Tensor):
        if dtype not in (None, first.dtype):
            raise fail(
                TypeError,
                call=f"{call}({describe(first)})",
                cause=f"expected {chosen.name}, but got {first.dtype.name}: this constructor does "
                "not convert tensors",
                fix=f"use x.to({chosen!r})",
            )
        return alias(first)
    if len(data) != 1 or not hasattr(first, "__len__") or isinstance(first, (str, bytes)):
        raise fail(
            TypeError,
            call=f"{call}({', '.join(map(describe, data))})",
            cause="data must be a sequence of numbers, or whole numbers that are sizes",
            fix=f"use whygrad.tensor(data, dtype={chosen!r})",
        )
    return functions["as_tensor"](first, chosen, "cpu")


def set_default_tensor_type(t: Any) -> None:
    """``set_default_dtype`` by the name of a type; PyTorch discourages it, too."""
    if isinstance(t, str):
        space, _, name = t.rpartition(".")
        place = space.partition(".")[2] or "cpu"
        t = tensor_type(name, place) if name in TENSOR_TYPES else t
    known = isinstance(t, TensorType) and t.dtype.is_floating_point
    if not known or t.place != "cpu":
        raise fail(
            TypeError,
            call=f"set_default_tensor_type({t!r})",
            cause="only floating-point types on the CPU can be the default",
            fix="use whygrad.set_default_dtype(whygrad.float32)",
        )
    warnings.warn(
        "set_default_tensor_type() is deprecated: use whygrad.set_default_dtype()",
        UserWarning,
        stacklevel=2,
    )
    dtypes.set_default_dtype(t.dtype)


def typename(obj: Any) -> str:
    """The name of an object's type, with that of its module; of a tensor ``x.type()``."""
    if isinstance(obj, Tensor):
        return str(obj.type())
    kind = obj if isinstance(obj, type) else type(obj)
    module = getattr(obj, "__module__", None) or kind.__module__
    name = getattr(obj, "__qualname__", None) or kind.__qualname__
    return name if module == "builtins" else f"{module}.{name}"
