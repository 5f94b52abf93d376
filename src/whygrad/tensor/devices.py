"""Devices and layouts, and the payload of a tensor that has a shape but no data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from whygrad.errors import fail
from whygrad.tensor import keys
from whygrad.tensor.memory import is_dense, row_major
from whygrad.threads import PerThread

__all__ = [
    "Device",
    "DeviceError",
    "Layout",
    "MetaArray",
    "get_default_device",
    "meta_array",
    "of",
    "set_default_device",
]

Transfer = Callable[[Any], Any]


# What PyTorch calls the places it can compute in and whygrad cannot.  A script may name them (and
# ask ``device.type == "cuda"``); a tensor cannot go there.
ELSEWHERE = (
    "cuda", "fpga", "hip", "hpu", "ideep", "ipu", "lazy", "maia", "mkldnn", "mps", "mtia", "opencl",
    "opengl", "privateuseone", "ve", "vulkan", "xla", "xpu",
)  # fmt: skip


class DeviceError(AssertionError, RuntimeError):
    """There is no such device here.

    PyTorch's builds for the CPU raise an AssertionError, those for a GPU on a machine without one
    a RuntimeError; scripts catch either.
    """


class Device:
    """A place where tensors live: ``device("cpu")``; ``cpu`` and ``meta`` come with the package.

    Data goes from one device to another by way of NumPy: ``to_numpy`` of the one, ``from_numpy``
    of the other.  ``with device("meta"):`` makes it the place of new tensors.
    """

    __slots__ = ("from_numpy", "index", "key", "to_numpy", "type")

    type: str
    index: int | None
    key: int  # 0 for a place that is not here
    from_numpy: Transfer
    to_numpy: Transfer

    def __new__(cls, type: Any, index: int | None = None) -> Device:
        return _named(type, index)

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return str(self) == (str(other) if isinstance(other, Device) else other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return Device, (self.type, self.index)

    def __enter__(self) -> Device:
        default.outer = (*default.outer, default.device)
        default.device = self
        return self

    def __exit__(self, *_: object) -> None:
        *outer, default.device = default.outer
        default.outer = tuple(outer)


class _Default(PerThread):
    """Where this thread makes tensors that name no device; None is the CPU, and nobody said so."""

    device: Device | None = None
    outer: tuple[Device | None, ...] = ()  # of the ``with`` blocks around


default = _Default()


def get_default_device() -> Device:
    """Where tensors are made that name no device."""
    return cpu if default.device is None else of(default.device)


def set_default_device(device: Any) -> None:
    """Make tensors on this device where none is named, in this thread; None: on the CPU."""
    default.device = None if device is None else Device(device)


class Layout:
    """How the elements are arranged in memory."""

    __slots__ = ("key", "name")

    def __init__(self, name: str, key: int) -> None:
        self.name = name
        self.key = key

    def __repr__(self) -> str:
        return f"whygrad.{self.name}"

    def __reduce__(self) -> str:
        return self.name  # the constant of this module, which copies stay


strided = Layout("strided", 0)
sparse_coo = Layout("sparse_coo", keys.SPARSE_COO)
sparse_csr = Layout("sparse_csr", keys.SPARSE_CSR)
layouts = [sparse_coo, sparse_csr]


def of(device: Any) -> Device:
    """Where a tensor is to live, by a Device or its name; an index changes nothing here."""
    place = device if isinstance(device, Device) else _named(device, None)
    if not place.key:
        raise _absent(place)
    return devices[place.type]


def _named(type: Any, index: int | None) -> Device:
    """What ``device(type, index)`` means."""
    if isinstance(type, Device) and index is None:
        return type
    if isinstance(type, int):
        raise _absent(f"cuda:{type}")
    if not isinstance(type, str):
        raise fail(
            TypeError,
            call=f"device({type!r})",
            cause=f"argument 'type' must be str, not {type.__class__.__name__}",
            fix="pass a name: device('cpu')",
        )
    name, colon, number = type.partition(":")
    known = devices.get(name)
    valid = number.isdecimal() and index is None if colon else index is None or index >= 0
    if not valid or (known is None and name not in ELSEWHERE):
        raise fail(
            RuntimeError,
            call=f"device({type!r})" if index is None else f"device({type!r}, {index})",
            cause=f"no such device here; known: {', '.join(devices)}"
            if valid
            else "a device is a name and perhaps an index that is not negative: 'cuda:0'",
            fix="use 'cpu', or 'meta' for shapes without data",
        )
    chosen = int(number) if colon else index
    if known is not None and chosen is None:
        return known
    return _make(name, chosen, known)


def _make(name: str, index: int | None, like: Device | None) -> Device:
    device = object.__new__(Device)
    device.type, device.index = name, index
    device.key = 0 if like is None else like.key
    if like is not None:
        device.from_numpy, device.to_numpy = like.from_numpy, like.to_numpy
    return device


def _absent(place: Any) -> DeviceError:
    kind = str(place).partition(":")[0]
    title = {"cuda": "CUDA", "mps": "MPS", "xpu": "XPU"}.get(kind, kind)
    return fail(
        DeviceError,
        call=f"a tensor on {place}",
        cause=f"there is no {title} here: whygrad computes on the CPU",
        fix=f"use device='cpu', or let the program choose: "
        f"x.to('{kind}' if whygrad.{kind}.is_available() else 'cpu')"
        if kind in ("cuda", "mps", "xpu")
        else "use device='cpu'",
    )


class MetaArray(np.ndarray[Any, Any]):
    """Shape, strides and dtype over no memory worth reading.

    NumPy's view operations (transpose, slicing, …) only touch shape and strides, so they work
    as they are.  Everything that would read an element is switched off: the memory behind the
    strides is not ours.
    """

    __array_ufunc__ = None  # type: ignore[assignment]  # NumPy's way to say "not for ufuncs"

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        raise TypeError(f"numpy.{func.__name__} would read a meta tensor, which has no data")


def meta_array(shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...] | None = None) -> Any:
    """A payload with the given geometry; ``strides`` count elements, row-major by default."""
    dtype = np.dtype(dtype)
    steps = row_major(shape) if strides is None else strides
    cell = np.empty((), dtype)
    spread = np.lib.stride_tricks.as_strided(
        cell, shape, tuple(step * dtype.itemsize for step in steps), writeable=False
    )
    return spread.view(MetaArray)


def _without_data(array: Any) -> Any:
    """The geometry of an array, its order of dimensions kept if its elements fill their memory."""
    strides = tuple(step // array.itemsize for step in array.strides)
    return meta_array(array.shape, array.dtype, strides if is_dense(array) else None)


def _no_data(array: Any) -> Any:
    raise fail(
        NotImplementedError,
        call=f"copying the data of a meta tensor of shape {array.shape}",
        cause="Cannot copy out of meta tensor; no data! It has a shape and a dtype only",
        fix=f"make a new tensor: whygrad.empty({array.shape}, device='cpu')",
    )


def add(name: str, key: int, from_numpy: Transfer, to_numpy: Transfer) -> Device:
    """Make a device known under its name."""
    device = _make(name, None, None)
    device.key, device.from_numpy, device.to_numpy = key, from_numpy, to_numpy
    devices[name] = device
    return device


devices: dict[str, Device] = {}
cpu = add("cpu", keys.CPU, np.array, np.asarray)
meta = add("meta", keys.META, _without_data, _no_data)
