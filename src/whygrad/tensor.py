"""Tensor: a strided view of a storage, and its place in the graph.

Four slots are filled for every tensor; the rest (storage, gradient, …) are left empty until
somebody asks, because most tensors of a training step live for microseconds.
``Tensor.__getattr__`` supplies the default of an empty slot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad import device as devices
from whygrad import dtypes, keys
from whygrad.errors import fail
from whygrad.storage import Storage

if TYPE_CHECKING:
    from whygrad.autograd.graph import Node

__all__ = ["Tensor", "wrap"]


if TYPE_CHECKING:

    def _operator(self: Tensor, other: Any = None, /) -> Any: ...


class Tensor:
    """An n-dimensional array that remembers how it was computed."""

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_array",
        "_base",
        "_grad",
        "_inference",
        "_keys",
        "_node",
        "_slot",
        "_storage",
        "_tangent",
    )

    _array: Any  # the payload: ndarray, MetaArray, a SciPy sparse array, or a backend's own
    _keys: int  # dispatch key bits
    _node: Any  # Node that made it, AccumulateGrad for a leaf that requires grad, or None
    _slot: int  # which output of that node
    _storage: Storage
    _base: Tensor | None  # the tensor this one is a view of
    _grad: Tensor | None
    _tangent: Any  # forward mode
    _inference: bool

    if TYPE_CHECKING:  # installed from the op table by whygrad.ops
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _operator
        __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __matmul__ = __neg__ = _operator
        __lt__ = __le__ = __gt__ = __ge__ = _operator

    __array_priority__ = 1000
    __hash__ = object.__hash__

    def __getattr__(self, name: str) -> Any:
        """Called only for empty slots (and truly unknown names)."""
        if name == "_storage":
            storage = self._storage = Storage(self._array)
            return storage
        if name in ("_base", "_grad", "_tangent"):
            return None
        if name == "_inference":
            return False
        raise AttributeError(f"'Tensor' object has no attribute {name!r}")

    @classmethod
    def _from_number(cls, number: Any, dtype: dtypes.DType | None) -> Tensor:
        chosen = dtypes.result_type(number) if dtype is None else dtype
        return wrap(np.array(number, dtype=chosen.numpy))

    # --- geometry ---------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self._array.shape
        return shape

    @property
    def ndim(self) -> int:
        return len(self._array.shape)

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

    # --- place in the graph -----------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        return self._node is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    @property
    def is_leaf(self) -> bool:
        return self._node is None or self._node.plan is None

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor; None for leaves."""
        return None if self.is_leaf else self._node

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Start (or stop) asking for the gradient of this leaf."""
        from whygrad.autograd.graph import AccumulateGrad

        if not requires_grad:
            if not self.is_leaf:
                raise fail(
                    RuntimeError,
                    call="requires_grad_(False) on a tensor that is not a leaf",
                    cause=f"it was computed by {self._node.name()} at {self._node.where}",
                    fix="use detach() to get a tensor without history",
                )
            self._node = None
            self._keys &= ~keys.AUTOGRAD
            return self
        if self._node is None:
            if self.dtype.category != dtypes.FLOAT:
                raise fail(
                    RuntimeError,
                    call=f"requires_grad_() on a tensor of dtype {self.dtype}",
                    cause="only floating point tensors can have a gradient",
                    fix="convert it first: x.to(whygrad.float32).requires_grad_()",
                )
            self._node = AccumulateGrad(self)
            self._slot = 0
            self._keys |= keys.AUTOGRAD
        return self

    @property
    def grad(self) -> Tensor | None:
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        self._grad = value

    def detach(self) -> Tensor:
        """The same memory, cut off from the graph."""
        cut = wrap(self._array)
        cut._storage = self._storage
        return cut

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

    # --- out to Python and NumPy ----------------------------------------------------------------

    def numel(self) -> int:
        return int(np.prod(self._array.shape, dtype=np.int64))

    def item(self) -> Any:
        """The only element, as a Python number."""
        if self.numel() != 1:
            raise fail(
                RuntimeError,
                call=f"item() of a tensor with {self.numel()} elements",
                cause="a Tensor with several elements cannot be converted to Scalar",
                fix="pick one element, or use tolist()",
            )
        return self._array.item()

    def numpy(self) -> Any:
        """The array itself, sharing memory."""
        if self.requires_grad:
            raise fail(
                RuntimeError,
                call="numpy() of a tensor that requires grad",
                cause="NumPy does not record: gradients would stop here without notice",
                fix="use tensor.detach().numpy()",
            )
        return self._array


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
    return tensor
