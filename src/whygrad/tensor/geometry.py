"""How a tensor lies in memory: sizes, strides, kind of number, device, layout."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from whygrad.errors import fail
from whygrad.tensor import devices, dtypes, keys
from whygrad.tensor.above import above
from whygrad.tensor.memory import MemoryFormat, Size, contiguous_format, row_major

if TYPE_CHECKING:
    from whygrad.ops.public.storages import StorageType, TypedStorage
    from whygrad.tensor import Tensor
    from whygrad.tensor.storage import Storage

__all__ = ["Geometry"]


class Geometry:
    """The methods of ``Tensor`` that tell what kind of array it is, and how it lies in memory."""

    __slots__ = ()

    @property
    def shape(self: Any) -> Size:
        return Size(self._array.shape)

    @property
    def ndim(self: Any) -> int:
        return len(self._array.shape)

    def dim(self: Any) -> int:
        """The number of dimensions."""
        return len(self._array.shape)

    ndimension = dim

    def size(self: Any, dim: int | None = None) -> Any:
        """All sizes, or the size of one dimension."""
        return self.shape if dim is None else self._of_dim(self._array.shape, dim, "size")

    def stride(self: Any, dim: int | None = None) -> Any:
        """How many elements apart neighbours lie: along every dimension, or along one.

        A tensor without elements reports the strides of a row-major one.
        """
        array = self._array
        if array.size:
            itemsize = array.itemsize
            strides = tuple([step // itemsize for step in array.strides])
        else:
            strides = row_major(array.shape)
        return strides if dim is None else self._of_dim(strides, dim, "stride")

    def _of_dim(self: Any, values: tuple[int, ...], dim: int, call: str) -> int:
        if not values:
            raise fail(
                IndexError,
                call=f"{call}({dim}) of a 0-d tensor",
                cause=f"Dimension specified as {dim} but tensor has no dimensions",
                fix=f"use {call}() without a dimension",
            )
        return values[above.normalize_dim(dim, len(values), call)]

    def numel(self: Any) -> int:
        """The number of elements."""
        return prod(self._array.shape)

    nelement = numel

    def element_size(self: Any) -> int:
        """Bytes per element."""
        return self.dtype.itemsize

    def data_ptr(self: Any) -> int:
        """The address of the first element; 0 where there is none."""
        array = self._array
        return array.ctypes.data if array.size and not self._keys & keys.META else 0

    def storage_offset(self: Any) -> int:
        """How many elements after the start of its storage this tensor begins."""
        first = self._array.__array_interface__["data"][0]
        return (first - self._storage.start) // self._array.itemsize

    def untyped_storage(self: Any) -> Storage:
        """The block of memory this tensor looks at."""
        return self._storage

    def storage(self: Any) -> TypedStorage:
        """The block of memory this tensor looks at, counted in its elements."""
        return above.TypedStorage(wrap_storage=self._storage, dtype=self.dtype)

    def storage_type(self: Any) -> StorageType:
        """The type of its storage: ``whygrad.FloatStorage``."""
        return above.storage_type_of(self.dtype)

    def is_contiguous(self: Any, memory_format: MemoryFormat = contiguous_format) -> bool:
        """Whether the elements lie in row-major (or the given) order without gaps."""
        if memory_format is contiguous_format:
            contiguous: bool = self._array.flags.c_contiguous
            return contiguous
        return memory_format.holds(self._array)

    @property
    def _version(self: Any) -> int:
        """How often the memory has been written in place, other than through ``.data``."""
        return self._storage.shown_version

    def _is_view(self: Any) -> bool:
        return self._base is not None

    @property
    def T(self: Any) -> Tensor:
        """All dimensions in reverse order."""
        ndim = self.ndim
        return self.mT if ndim == 2 else self.permute(tuple(reversed(range(ndim))))

    @property
    def mT(self: Any) -> Tensor:
        """The last two dimensions exchanged."""
        return above.matrix_transpose(self)

    @property
    def H(self: Any) -> Tensor:
        """The conjugate transpose of a matrix."""
        if self.ndim != 2:
            raise fail(
                RuntimeError,
                call=f"x.H of a {self.ndim}-d tensor",
                cause="tensor.H is only supported on matrices (2-D tensors). "
                f"Got {self.ndim}-D tensor",
                fix="use mH for batches of matrices",
            )
        return self.adjoint()

    @property
    def mH(self: Any) -> Tensor:
        """The conjugate transpose over the last two dimensions."""
        return self.adjoint()

    @property
    def real(self: Any) -> Tensor:
        """The real part, sharing memory."""
        return above.real(self)

    @property
    def imag(self: Any) -> Tensor:
        """The imaginary part of a complex tensor, sharing memory."""
        return above.imag(self)

    @property
    def dtype(self: Any) -> dtypes.DType:
        return dtypes.by_key[self._keys & keys.DTYPES]

    @property
    def device(self: Any) -> devices.Device:
        bit = self._keys & keys.DEVICES
        return next(device for device in devices.devices.values() if device.key == bit)

    @property
    def layout(self: Any) -> devices.Layout:
        bit = self._keys & keys.LAYOUTS
        return next((each for each in devices.layouts if each.key == bit), devices.strided)

    @property
    def is_cpu(self: Any) -> bool:
        return self.device is devices.cpu

    @property
    def is_cuda(self: Any) -> bool:
        return False

    is_ipu = is_maia = is_mkldnn = is_mps = is_mtia = is_nested = is_cuda
    is_quantized = is_vulkan = is_xla = is_xpu = is_cuda

    def get_device(self: Any) -> int:
        """The number of the GPU: -1, for none."""
        return -1

    def is_pinned(self: Any, device: Any = None) -> bool:
        """Whether the memory is pinned for a GPU: it is not."""
        return False

    @property
    def is_meta(self: Any) -> bool:
        return self.device is devices.meta

    @property
    def itemsize(self: Any) -> int:
        """Bytes per element."""
        return self.dtype.itemsize

    @property
    def nbytes(self: Any) -> int:
        """Bytes of all elements together."""
        return self.numel() * self.dtype.itemsize
