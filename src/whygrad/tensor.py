"""Tensor: a strided view of a storage, and its place in the graph.

Five slots are filled for every tensor; the rest (storage, gradient, …) are left empty until
somebody asks, because most tensors of a training step live for microseconds.
``Tensor.__getattr__`` supplies the default of an empty slot.
"""

from __future__ import annotations

import threading
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad import devices, dtypes, keys
from whygrad.autograd import cuts, leaves
from whygrad.errors import fail
from whygrad.interchange import Interchange
from whygrad.memory import Size, row_major
from whygrad.storage import DataStorage, InferenceStorage, Storage

if TYPE_CHECKING:
    from collections.abc import Callable

    from whygrad._methods import OpMethods  # a stub without a module, written by `make stubs`
    from whygrad.autograd.node import Node
    from whygrad.utils.hooks import RemovableHandle
else:
    OpMethods = object  # whygrad.ops installs the methods on Tensor itself

__all__ = ["Tensor", "wrap"]


_first_use = threading.Lock()


class Tensor(Interchange, OpMethods):
    """An n-dimensional array that remembers how it was computed."""

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_array",
        "_base",
        "_grad",
        "_keys",
        "_node",
        "_slot",
        "_storage",
        "_tangent",
    )

    _array: Any  # the payload: ndarray, MetaArray, SparseArray, or a backend's own
    _keys: int  # dispatch key bits
    _node: Any  # Node that made it, AccumulateGrad for a leaf that requires grad, or None
    _slot: int  # which output of that node
    _storage: Storage
    _base: Tensor | None  # the tensor this one is a view of
    _grad: Tensor | None
    _tangent: Any  # forward mode
    name: str | None = None  # free for the user: shown in explanations

    __array_priority__ = 1000
    __hash__ = object.__hash__

    def __init__(self, *data: Any) -> None:
        """PyTorch's first constructor: sizes, or numbers that become the default float."""
        from whygrad.ops.creation.creation import default_float_tensor

        made = default_float_tensor(data)
        self._array = made._array
        self._keys = made._keys
        self._node = None
        self._slot = 0
        self._base = None

    def _empty_slot(self, name: str) -> Any:
        """What an empty slot stands for; called for truly unknown names, too."""
        if name == "_storage":
            with _first_use:  # two threads must agree on one version counter
                if not _has_storage(self):
                    self._storage = Storage(self._array)
            return self._storage
        if name in ("_grad", "_tangent"):
            return None
        raise AttributeError(f"'Tensor' object has no attribute {name!r}")

    if not TYPE_CHECKING:  # to a type checker an unknown name is a mistake
        __getattr__ = _empty_slot

    @classmethod
    def _from_number(cls, number: Any, dtype: dtypes.DType | None) -> Tensor:
        chosen = dtypes.result_type(number) if dtype is None else dtype
        return wrap(np.array(number, dtype=chosen.numpy))

    # --- geometry ---------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        return Size(self._array.shape)

    @property
    def ndim(self) -> int:
        return len(self._array.shape)

    def dim(self) -> int:
        """The number of dimensions."""
        return len(self._array.shape)

    ndimension = dim

    def size(self, dim: int | None = None) -> Any:
        """All sizes, or the size of one dimension."""
        return self.shape if dim is None else self._of_dim(self._array.shape, dim, "size")

    def stride(self, dim: int | None = None) -> Any:
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

    def _of_dim(self, values: tuple[int, ...], dim: int, call: str) -> int:
        from whygrad.ops.geometry import normalize_dim

        if not values:
            raise fail(
                IndexError,
                call=f"{call}({dim}) of a 0-d tensor",
                cause=f"Dimension specified as {dim} but tensor has no dimensions",
                fix=f"use {call}() without a dimension",
            )
        return values[normalize_dim(dim, len(values), call)]

    def numel(self) -> int:
        """The number of elements."""
        return prod(self._array.shape)

    nelement = numel

    def element_size(self) -> int:
        """Bytes per element."""
        return self.dtype.itemsize

    def data_ptr(self) -> int:
        """The address of the first element; 0 where there is none."""
        array = self._array
        return array.ctypes.data if array.size and not self._keys & keys.META else 0

    def storage_offset(self) -> int:
        """How many elements after the start of its storage this tensor begins."""
        first = self._array.__array_interface__["data"][0]
        return (first - self._storage.start) // self._array.itemsize

    def untyped_storage(self) -> Storage:
        """The block of memory this tensor looks at."""
        return self._storage

    storage = untyped_storage

    def is_contiguous(self) -> bool:
        """Whether the elements lie in row-major order without gaps."""
        contiguous: bool = self._array.flags.c_contiguous
        return contiguous

    @property
    def _version(self) -> int:
        """How often the memory has been written in place, other than through ``.data``."""
        return self._storage.shown_version

    def _is_view(self) -> bool:
        return self._base is not None

    @property
    def T(self) -> Tensor:
        """All dimensions in reverse order."""
        ndim = self.ndim
        return self.mT if ndim == 2 else self.permute(tuple(reversed(range(ndim))))

    @property
    def mT(self) -> Tensor:
        """The last two dimensions exchanged."""
        from whygrad.ops.shape.axes import matrix_transpose

        return matrix_transpose(self)

    @property
    def H(self) -> Tensor:
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
    def mH(self) -> Tensor:
        """The conjugate transpose over the last two dimensions."""
        return self.adjoint()

    @property
    def real(self) -> Tensor:
        """The real part, sharing memory."""
        from whygrad.ops.shape.axes import real

        return real(self)

    @property
    def imag(self) -> Tensor:
        """The imaginary part of a complex tensor, sharing memory."""
        from whygrad.ops.shape.axes import imag

        return imag(self)

    @property
    def dtype(self) -> dtypes.DType:
        return dtypes.by_key[self._keys & keys.DTYPES]

    @property
    def device(self) -> devices.Device:
        bit = self._keys & keys.DEVICES
        return next(device for device in devices.devices.values() if device.key == bit)

    @property
    def layout(self) -> devices.Layout:
        bit = self._keys & keys.LAYOUTS
        return next((each for each in devices.layouts if each.key == bit), devices.strided)

    @property
    def is_cpu(self) -> bool:
        return self.device is devices.cpu

    @property
    def is_cuda(self) -> bool:
        return False

    @property
    def is_meta(self) -> bool:
        return self.device is devices.meta

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements together."""
        return self.numel() * self.dtype.itemsize

    # --- place in the graph -----------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        return self._node is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Start (or stop) asking for the gradient of this leaf."""
        if requires_grad is not (self._node is not None):
            leaves.set_requires_grad(self, requires_grad)
        return self

    @property
    def is_leaf(self) -> bool:
        return self._node is None or self._node.plan is None

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor; None for leaves."""
        return None if self.is_leaf else self._node

    @property
    def output_nr(self) -> int:
        """Which output of ``grad_fn`` this tensor is."""
        return self._slot

    @property
    def grad(self) -> Tensor | None:
        """What backward() has added up so far; kept for leaves, elsewhere after retain_grad()."""
        gradient = self._grad
        if gradient is None and not self.is_leaf and not leaves.is_retained(self):
            leaves.warn_not_retained(self)
        return gradient

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            leaves.check_gradient(self, value)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    def retain_grad(self) -> None:
        """Keep ``.grad`` of this tensor in backward() although it is not a leaf."""
        leaves.retain(self)

    @property
    def retains_grad(self) -> bool:
        """Whether ``retain_grad`` was called on this tensor, which is not a leaf."""
        return leaves.is_retained(self)

    def register_hook(self, hook: Callable[[Tensor], Any]) -> RemovableHandle:
        """Call ``hook(gradient)`` whenever a gradient of this tensor is computed.

        A tensor that it returns is used in place of the gradient.
        """
        from whygrad.autograd.hooks import register_tensor_hook

        return register_tensor_hook(self, hook)

    def register_post_accumulate_grad_hook(
        self, hook: Callable[[Tensor], Any]
    ) -> RemovableHandle:
        """Call ``hook(leaf)`` once backward() has added to ``.grad`` of this leaf.

        That is during backward(), as soon as nothing more can arrive: the hook may use ``.grad``
        and set it to None before the gradients of other leaves are computed.
        """
        from whygrad.autograd.hooks import register_post_accumulate_grad_hook

        return register_post_accumulate_grad_hook(self, hook)

    @property
    def data(self) -> Tensor:
        """The same memory outside the graph, with a version of its own."""
        if self._keys & keys.BATCHED:
            return self.detach()
        alias = wrap(self._array)
        alias._storage = DataStorage(self._storage)
        return alias

    @data.setter
    def data(self, value: Tensor) -> None:
        leaves.replace_data(self, value)

    def detach(self) -> Tensor:
        """The same memory, cut off from the graph."""
        if self._keys & keys.BATCHED:
            return leaves.detach_batched(self)
        cut = wrap(self._array)
        cut._storage = self._storage
        if self._node is not None:
            cuts.note(self, cut)
        return cut

    def detach_(self) -> Tensor:
        """Forget how this tensor was computed: it becomes a leaf."""
        return leaves.cut_off(self)

    def is_inference(self) -> bool:
        """Whether this tensor was made inside ``inference_mode``."""
        return isinstance(self._storage, InferenceStorage)

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add the gradient of this tensor to ``.grad`` of the leaves it was computed from."""
        from whygrad.autograd.api import backward

        backward(self, gradient, retain_graph, create_graph, inputs)


def _has_storage(tensor: Tensor) -> bool:
    try:
        object.__getattribute__(tensor, "_storage")
    except AttributeError:
        return False
    return True


class _KeysByPayload(dict[type, int]):
    """Device and layout bits by type of payload; backends add their own."""

    def __missing__(self, kind: type) -> int:
        raise fail(
            TypeError,
            call=f"a kernel returned a {kind.__name__}",
            cause="no device or layout is registered for this kind of payload",
            fix="register it: whygrad.tensor.payload_keys[kind] = bits",
        )


payload_keys = _KeysByPayload({np.ndarray: keys.CPU, devices.MetaArray: keys.META})


class _KeysByDType(dict[Any, int]):
    def __missing__(self, dtype: Any) -> int:
        bits = self[dtype] = dtypes.by_numpy[dtype].key
        return bits


dtype_keys = _KeysByDType()
_new = Tensor.__new__


def wrap(payload: Any) -> Tensor:
    """A fresh tensor around what a kernel returned."""
    kind = type(payload)
    if kind is not np.ndarray and kind not in payload_keys:
        payload = np.asarray(payload)  # ufuncs turn 0-d arrays into NumPy scalars
        kind = np.ndarray
    tensor = _new(Tensor)
    tensor._array = payload
    tensor._keys = payload_keys[kind] | dtype_keys[payload.dtype]
    tensor._node = None
    tensor._slot = 0
    tensor._base = None
    return tensor
