"""The memory of tensors under PyTorch's names: ``UntypedStorage``, ``FloatStorage``, ….

The memory itself is :class:`whygrad.tensor.storage.Storage`, which counts bytes;
``UntypedStorage`` makes one, and every one is an instance of it.  A :class:`TypedStorage` is the
same memory counted in elements of a dtype, and ``FloatStorage`` those of float32.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from whygrad.errors import describe, fail
from whygrad.ops import functions
from whygrad.ops.creation.conversion import TENSOR_TYPES
from whygrad.tensor import dtypes
from whygrad.tensor.storage import Storage
from whygrad.tensor.storage_contents import Contents

__all__ = ["StorageType", "TypedStorage", "UntypedStorage", "storage_type", "storage_type_of"]


def _new(call: str, data: tuple[Any, ...], dtype: dtypes.DType, device: Any) -> Storage:
    """Memory for a number of elements, or with these elements."""
    first: Any = data[0] if data else 0
    if len(data) > 1 or isinstance(first, (str, float)) or not hasattr(first, "__index__"):
        if len(data) > 1 or not hasattr(first, "__len__") or isinstance(first, str):
            raise fail(
                RuntimeError,
                call=f"{call}({', '.join(map(describe, data))})",
                cause="Expected a sequence type, or how many elements there should be",
                fix=f"use whygrad.{call}(8) or whygrad.{call}([1, 2, 3])",
            )
        numbers = [each % 256 for each in first] if dtype is dtypes.uint8 else list(first)
        made = functions["tensor"](numbers, dtype=dtype, device=device)
    else:
        made = functions["empty"](first, dtype=dtype, device=device)
    return made._storage


class _AnyStorage(type):
    def __instancecheck__(cls, other: Any) -> bool:
        return isinstance(other, Storage)

    def __call__(cls, *data: Any, device: Any = None) -> Storage:
        return _new(cls.__name__, data, dtypes.uint8, device)


class UntypedStorage(metaclass=_AnyStorage):
    """Memory counted in bytes: ``UntypedStorage(16)`` or ``UntypedStorage([1, 2, 3])``."""


class TypedStorage(Contents):
    """Memory counted in elements of ``dtype``, which is ``x.storage()``."""

    __slots__ = ("_untyped", "dtype")

    def __init__(
        self, *data: Any, wrap_storage: Storage | None = None, dtype: Any = None, device: Any = None
    ) -> None:
        self.dtype: dtypes.DType = dtypes.get_default_dtype() if dtype is None else dtype
        made = wrap_storage
        self._untyped = _new("TypedStorage", data, self.dtype, device) if made is None else made

    def _memory(self) -> tuple[Storage, dtypes.DType]:
        return self._untyped, self.dtype

    def _of(self, storage: Storage) -> TypedStorage:
        return TypedStorage(wrap_storage=storage, dtype=self.dtype)

    size = Contents.__len__

    def nbytes(self) -> int:
        """Bytes of the whole memory."""
        return self._untyped.nbytes()

    def data_ptr(self) -> int:
        """The lowest address of an element."""
        return self._untyped.data_ptr()

    def type(self) -> str:
        """The name of the storage type: ``"whygrad.FloatStorage"``."""
        return f"whygrad.{self.pickle_storage_type()}"

    def pickle_storage_type(self) -> str:
        """The name that files of ``torch.save`` have for it."""
        return storage_type_of(self.dtype).__name__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TypedStorage):
            return NotImplemented
        return self._untyped is other._untyped and self.dtype is other.dtype

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        lines = " " + "\n ".join(map(str, self)) + "\n"
        about = f"dtype={self.dtype!r}, device={self.device}"
        return f"{lines}[whygrad.TypedStorage({about}) of size {len(self)}]"


class StorageType(type):
    """The class of ``FloatStorage`` and its like."""

    dtype: dtypes.DType

    def __instancecheck__(cls, other: Any) -> bool:
        return isinstance(other, TypedStorage) and other.dtype is cls.dtype

    def __call__(cls, *data: Any, wrap_storage: Any = None, device: Any = None) -> TypedStorage:
        return TypedStorage(*data, wrap_storage=wrap_storage, dtype=cls.dtype, device=device)

    def __reduce__(cls) -> tuple[Any, ...]:
        return storage_type, (cls.__name__,)


@cache
def storage_type(name: str) -> StorageType:
    """The type of this name: ``"FloatStorage"``."""
    made = StorageType(name, (), {"__module__": "whygrad"})
    made.dtype = TENSOR_TYPES[name.replace("Storage", "Tensor")]
    return made


def storage_type_of(dtype: dtypes.DType) -> StorageType:
    """The type of storages with these elements."""
    name = next(name for name, each in TENSOR_TYPES.items() if each is dtype)
    return storage_type(name.replace("Tensor", "Storage"))
