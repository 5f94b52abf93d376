"""Tensor: a strided view of a storage, and its place in the graph.

Five slots are filled for every tensor; the rest (storage, gradient, …) are left empty until
somebody asks, because most tensors of a training step live for microseconds.
``Tensor.__getattr__`` supplies the default of an empty slot.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.errors import fail
from whygrad.tensor import devices, dtypes, keys, modes
from whygrad.tensor.above import above
from whygrad.tensor.geometry import Geometry
from whygrad.tensor.graph import lineage
from whygrad.tensor.interchange import Interchange
from whygrad.tensor.storage import DataStorage, InferenceStorage, Storage

if TYPE_CHECKING:
    from collections.abc import Callable

    from whygrad.autograd.hooks.handles import RemovableHandle
    from whygrad.tensor._methods import (
        OpMethods,  # a stub without a module, written by `make stubs`
    )
    from whygrad.tensor.graph.node import Node
else:
    OpMethods = object  # whygrad.ops installs the methods on Tensor itself

__all__ = ["Tensor", "alias", "wrap"]


_KNOWN_ORIGIN = keys.AUTOGRAD | keys.CUT
_first_use = threading.RLock()  # a signal handler may compute while this thread holds it


class Tensor(Geometry, Interchange, OpMethods):
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
    _class_keys = 0  # key bits of all objects of a subclass
    _results_as: type[Tensor] | None = None  # the class of results, if it is another one
    _loaded_by: Any = None  # makes one of what pickle kept, if that takes more than the class

    __array_priority__ = 1000
    __hash__ = object.__hash__

    def __init__(self, *data: Any) -> None:
        """PyTorch's first constructor: sizes, or numbers that become the default float."""
        made = above.old_style("Tensor", data, None)
        self._array = made._array
        self._storage = made._storage
        self._keys = made._keys
        self._node = None
        self._slot = 0
        self._base = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls.__module__.startswith("whygrad."):
            above.adopt(cls)

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Carry out ``func``; what it makes of a subclass's objects is of that class, too."""
        return above.carry_out(cls, func, types, args, kwargs)

    def _empty_slot(self, name: str) -> Any:
        """What an empty slot stands for; called for truly unknown names, too."""
        if name == "_storage":
            with _first_use:  # two threads must agree on one version counter
                storage = Storage(self._array)
                if not _has_storage(self):  # nor has a signal handler given it one meanwhile
                    self._storage = storage
            return self._storage
        if name in ("_grad", "_tangent"):
            return None
        from whygrad.refused import refusal

        raise refusal("Tensor", name)

    if not TYPE_CHECKING:  # to a type checker an unknown name is a mistake
        __getattr__ = _empty_slot

    @classmethod
    def _from_number(cls, number: Any, dtype: dtypes.DType | None) -> Tensor:
        chosen = dtypes.result_type(number) if dtype is None else dtype
        return wrap(np.array(number, dtype=chosen.numpy))

    @property
    def requires_grad(self) -> bool:
        return self._node is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Start (or stop) asking for the gradient of this leaf."""
        if requires_grad is not (self._node is not None):
            above.set_requires_grad(self, requires_grad)
        return self

    @property
    def is_leaf(self) -> bool:
        return self._node is None or self._node.plan is None

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor; None for leaves."""
        if self.is_leaf:
            return None
        return above.shown(self._node)

    @property
    def output_nr(self) -> int:
        """Which output of ``grad_fn`` this tensor is."""
        return self._slot

    @property
    def grad(self) -> Tensor | None:
        """What backward() has added up so far; kept for leaves, elsewhere after retain_grad()."""
        gradient = self._grad
        if gradient is None and not self.is_leaf and not above.is_retained(self):
            above.warn_not_retained(self)
        return gradient

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            above.check_gradient(self, value)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    def retain_grad(self) -> None:
        """Keep ``.grad`` of this tensor in backward() although it is not a leaf."""
        above.retain(self)

    @property
    def retains_grad(self) -> bool:
        """Whether ``retain_grad`` was called on this tensor, which is not a leaf."""
        return above.is_retained(self)

    def register_hook(self, hook: Callable[[Tensor], Any]) -> RemovableHandle:
        """Call ``hook(gradient)`` whenever a gradient of this tensor is computed.

        A tensor that it returns is used in place of the gradient.
        """
        return above.register_tensor_hook(self, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], Any]) -> RemovableHandle:
        """Call ``hook(leaf)`` once backward() has added to ``.grad`` of this leaf.

        That is during backward(), as soon as nothing more can arrive: the hook may use ``.grad``
        and set it to None before the gradients of other leaves are computed.
        """
        return above.register_post_accumulate_grad_hook(self, hook)

    @property
    def data(self) -> Tensor:
        """The same memory outside the graph, with a version of its own."""
        if self._keys & keys.BATCHED:
            return self.detach()
        same = wrap(self._array)
        if modes.state.run is not None:
            modes.state.run.note(self)
        same._storage = DataStorage(self)
        return lineage.cut(self, same, "data")

    @data.setter
    def data(self, value: Tensor) -> None:
        above.replace_data(self, value)

    def detach(self) -> Tensor:
        """The same memory, cut off from the graph."""
        if self._keys & keys.BATCHED:
            return above.detach_batched(self)
        same = alias(self)
        return lineage.cut(self, same, "detach") if self._keys & _KNOWN_ORIGIN else same

    def detach_(self) -> Tensor:
        """Forget how this tensor was computed: it becomes a leaf."""
        return above.cut_off(self)

    def _enter_graph(self, node: Any, slot: int = 0) -> None:
        """Become what ``node`` made."""
        self._node = node
        self._slot = slot
        self._keys = self._keys & ~keys.CUT | keys.AUTOGRAD

    def _leave_graph(self) -> None:
        """Become a constant."""
        self._node = None
        self._slot = 0
        self._keys &= ~keys.AUTOGRAD

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
        above.backward(self, gradient, retain_graph, create_graph, inputs)


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
            fix="register it with whygrad.dispatch.register_device or register_layout",
        )


payload_keys = _KeysByPayload({np.ndarray: keys.CPU, devices.MetaArray: keys.META})


class _KeysByDType(dict[Any, int]):
    def __missing__(self, dtype: Any) -> int:
        bits = self[dtype] = dtypes.by_numpy[dtype].key
        return bits


dtype_keys = _KeysByDType()
_new = Tensor.__new__
active = modes.active


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
    if active.count and modes.state.run is not None:
        modes.state.run.made(tensor)
    return tensor


def alias(tensor: Tensor, node: Any = None, slot: int = 0) -> Tensor:
    """The same memory as another tensor: a constant, or what ``node`` made."""
    same = wrap(tensor._array)
    same._storage = tensor._storage
    if modes.state.run is not None:
        modes.state.run.note(tensor)
    if node is not None:
        same._enter_graph(node, slot)
    return same
