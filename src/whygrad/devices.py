"""Devices and layouts, and the payload of a tensor that has a shape but no data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from whygrad import keys
from whygrad.errors import fail
from whygrad.memory import is_dense, row_major

__all__ = ["Device", "Layout", "MetaArray", "meta_array", "of"]

Transfer = Callable[[Any], Any]


class Device:
    """A place where tensors live: ``device("cpu")``; ``cpu`` and ``meta`` come with the package.

    Data goes from one device to another by way of NumPy: ``to_numpy`` of the one, ``from_numpy``
    of the other.
    """

    __slots__ = ("from_numpy", "key", "to_numpy", "type")

    type: str
    key: int
    from_numpy: Transfer
    to_numpy: Transfer

    def __new__(cls, type: Any, index: int | None = None) -> Device:
        return of(type)

    @property
    def index(self) -> None:
        return None

    def __repr__(self) -> str:
        return f"device(type={self.type!r})"

    def __str__(self) -> str:
        return self.type

    def __eq__(self, other: object) -> bool:
        return self.type == (other.type if isinstance(other, Device) else other)

    def __hash__(self) -> int:
        return hash(self.type)


class Layout:
    """How the elements are arranged in memory."""

    __slots__ = ("key", "name")

    def __init__(self, name: str, key: int) -> None:
        self.name = name
        self.key = key

    def __repr__(self) -> str:
        return f"whygrad.{self.name}"


strided = Layout("strided", 0)
sparse_coo = Layout("sparse_coo", keys.SPARSE_COO)
sparse_csr = Layout("sparse_csr", keys.SPARSE_CSR)
layouts = [sparse_coo, sparse_csr]


def of(device: Any) -> Device:
    """Accept a Device or its name."""
    if isinstance(device, Device):
        return device
    known = devices.get(str(device).split(":")[0])
    if known is None:
        raise fail(
            RuntimeError,
            call=f"device({device!r})",
            cause=f"no such device here; known: {', '.join(devices)}",
            fix="use 'cpu', or 'meta' for shapes without data",
        )
    return known


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
    device = object.__new__(Device)
    device.type, device.key = name, key
    device.from_numpy, device.to_numpy = from_numpy, to_numpy
    devices[name] = device
    return device


devices: dict[str, Device] = {}
cpu = add("cpu", keys.CPU, np.array, np.asarray)
meta = add("meta", keys.META, _without_data, _no_data)
