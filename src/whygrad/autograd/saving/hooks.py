"""Somebody else keeps what backward needs.

While a :class:`Keeper` is open, each node that is recorded hands over the tensors it saved and
gets something in their place that can bring them back: :class:`~whygrad.tensor.graph.node.Packed`.
``saved_tensors_hooks`` leaves the keeping to two functions of the user's, as in PyTorch; of several
keepers the innermost one counts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.autograd.saving.blocks import blocks, is_of_leaf, recorded_node
from whygrad.autograd.saving.bytes import note_saved
from whygrad.dispatch import quiet
from whygrad.dispatch.interception import intercepting
from whygrad.errors import describe, fail
from whygrad.source import Where
from whygrad.tensor import Tensor, alias, keys, modes
from whygrad.tensor.graph.node import Packed
from whygrad.threads import PerThread

if TYPE_CHECKING:
    from whygrad.dispatch.paths import Entry
    from whygrad.ops.define import Op
    from whygrad.tensor.graph.node import Node

__all__ = [
    "Box",
    "Keeper",
    "disable_saved_tensors_hooks",
    "innermost_keeper",
    "save_on_cpu",
    "saved_tensors_hooks",
]


class _ThreadState(PerThread):
    keeper: Keeper | None = None  # the innermost one
    refusal: str | None = None  # what disable_saved_tensors_hooks() was told to say


_state = _ThreadState()


def innermost_keeper() -> Keeper | None:
    """Who keeps what this thread saves now; None if the nodes do."""
    return _state.keeper


class Keeper(ABC):
    """A context in which saved tensors are handed over; may be entered again inside itself."""

    def __init__(self) -> None:
        self._entered: list[tuple[Keeper | None, AbstractContextManager[None]]] = []

    @abstractmethod
    def box(self, tensor: Tensor, node: Node, name: str, is_output: bool) -> Any:
        """Take one tensor that ``node`` saved; what is returned has an ``open()``."""

    @abstractmethod
    def put(self, node: Node, values: tuple[Any, ...]) -> None:
        """Give the node its values, of which the saved tensors are boxes now, and its guards."""

    def __enter__(self) -> Any:
        if _state.refusal is not None:
            raise _disabled(_state.refusal, f"entering {type(self).__name__}")
        watching = intercepting(self._intercept)
        watching.__enter__()
        self._entered.append((_state.keeper, watching))
        _state.keeper = self

    def __exit__(self, *error: Any) -> None:
        _state.keeper, watching = self._entered.pop()
        watching.__exit__(*error)

    def _intercept(self, op: Op, below: Entry, args: tuple[Any, ...]) -> Any:
        result = below(*args)
        if _state.keeper is self:
            node = recorded_node(result)
            if node is not None and node.plan.guarded and type(node.values) is tuple:
                self._take(node, args, result)
        return result

    def _take(self, node: Node, args: tuple[Any, ...], result: Any) -> None:
        names, inputs = node.plan.saved_names, len(node.op.tensor_names)
        values = list(node.values)
        for index, place in node.plan.guarded:
            is_output = place >= inputs
            saved = _output(node.op, result, place - inputs) if is_output else args[place]
            if isinstance(saved, Tensor):
                values[index] = self.box(saved, node, names[index], is_output)
            elif isinstance(saved, (list, tuple)):
                values[index] = [self.box(each, node, names[index], is_output) for each in saved]
        self.put(node, tuple(values))


def _output(op: Op, result: Any, number: int) -> Any:
    return result if isinstance(result, Tensor) or op.returns_list else result[number]


@contextmanager
def _nobody_keeps() -> Iterator[None]:
    """Hooks do not run inside hooks."""
    outer, _state.keeper = _state.keeper, None
    try:
        yield
    finally:
        _state.keeper = outer


class saved_tensors_hooks(Keeper):
    """What an op inside this block saves goes through ``pack_hook``, and back by ``unpack_hook``.

    ``pack_hook(tensor)`` is called once per saved tensor and may return anything;
    ``unpack_hook(that)`` must answer with a tensor of the same shape, dtype and device, each time
    backward needs it.  Contexts nest: only the innermost pair is called.

    Whoever packs decides what a later write to the tensor means, so versions are not checked.
    The exception is a ``pack_hook`` that keeps the very memory it got, such as ``lambda x: x``:
    then an in-place write is an error, where PyTorch computes with what was written.
    """

    def __init__(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        super().__init__()
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        for name in ("pack_hook", "unpack_hook"):
            if not callable(getattr(self, name)):
                raise fail(
                    TypeError,
                    call="saved_tensors_hooks(pack_hook, unpack_hook)",
                    cause=f"{name} is {describe(getattr(self, name))}, which cannot be called",
                    fix="pass two functions",
                )
        super().__enter__()

    def box(self, tensor: Tensor, node: Node, name: str, is_output: bool) -> Box:
        if not is_of_leaf(tensor):
            note_saved(tensor)
        # The node that made an output must not keep it, so the hook sees another object.
        shown = alias(tensor, tensor._node, tensor._slot) if is_output else tensor
        storage = shown._storage
        version = storage.version
        with modes.no_grad(), quiet.again(), _nobody_keeps():
            packed = self.pack_hook(shown)
        if storage.version != version:
            raise _modified_by_pack(node, name, tensor)
        if is_output:
            shown._leave_graph()
        elif packed is shown:
            packed = shown.detach()  # the graph need not keep the tensor object and its .grad
        return Box(self.unpack_hook, packed, tensor, node, name)

    def put(self, node: Node, values: tuple[Any, ...]) -> None:
        node.values = Packed(values)
        node.guards = tuple(guard for guard in node.guards if _shares_memory(values[guard[2]]))


def _shares_memory(value: Box | list[Box]) -> bool:
    return all(box.shares_memory for box in (value if isinstance(value, list) else [value]))


class Box:
    """What ``pack_hook`` made of one tensor, and how to get the tensor back."""

    __slots__ = (
        "_bits", "_name", "_node_name", "_unpack", "_where", "dtype", "packed", "shape",
        "shares_memory",
    )  # fmt: skip

    def __init__(
        self,
        unpack: Callable[[Any], Tensor],
        packed: Any,
        source: Tensor,
        node: Node,
        name: str,
    ) -> None:
        self._unpack = unpack
        self._name = name
        self._bits = source._keys & _WHAT_IT_IS
        self.packed = packed
        self.shape = source._array.shape
        self.dtype = source._array.dtype
        self._node_name = node.name()
        self._where = Where(node.code, node.instruction)
        self.shares_memory = not _owners(source).isdisjoint(_owners(self.held()))
        if not self.shares_memory:
            note_saved(self.held())

    def open(self) -> Any:
        """The array, after a look at whether it can be the one that was packed."""
        with _nobody_keeps():
            tensor = self._unpack(self.packed)
        if not isinstance(tensor, Tensor):
            raise fail(
                TypeError,
                call=self._describe(),
                cause="Output of saved tensor unpack_hook expected to be a Tensor but got result "
                f"of type {type(tensor).__name__}",
                fix="return a tensor; whygrad.from_numpy(array) makes one of an array",
                where=None,
            )
        if tensor._array.shape != self.shape or tensor._keys & _WHAT_IT_IS != self._bits:
            where = "" if not (tensor._keys ^ self._bits) & _PLACES else f" on {tensor.device}"
            raise fail(
                RuntimeError,
                call=self._describe(),
                cause=f"it returned {describe(tensor)}{where}, which is not what was packed",
                fix="return a tensor of the shape, dtype, device and layout that pack_hook got",
                where=None,
            )
        if not self.shares_memory:
            note_saved(tensor)
        return tensor._array

    def held(self) -> list[Any]:
        """The tensors and arrays that what was packed keeps in memory, as far as one can see."""
        return _arrays_in(self.packed)

    @property
    def nbytes(self) -> int:
        """Of the tensor that was packed."""
        return prod(self.shape) * int(self.dtype.itemsize)

    def _describe(self) -> str:
        return (
            f"unpack_hook for '{self._name}' ({describe(self)}), saved by {self._node_name} at "
            f"{self._where}"
        )


_PLACES = keys.DEVICES | keys.LAYOUTS
_WHAT_IT_IS = keys.DTYPES | _PLACES


def _arrays_in(packed: Any) -> list[Any]:
    """Tensors and arrays among what a hook returned, also inside lists, tuples and dicts."""
    if isinstance(packed, (Tensor, np.ndarray)):
        return [packed]
    if isinstance(packed, dict):
        packed = list(packed.values())
    if isinstance(packed, (list, tuple)):
        return [array for each in packed for array in _arrays_in(each)]
    return []


def _owners(value: Any) -> set[int]:
    return {id(owner) for owner, _ in blocks(value)}


def _modified_by_pack(node: Node, name: str, tensor: Tensor) -> RuntimeError:
    writer, line = tensor._storage.last_writer or ("a write", "an unknown line")
    return fail(
        RuntimeError,
        call=f"pack_hook for '{name}' ({describe(tensor)}), saved by {node.name()} at {node.where}",
        cause="A saved tensor pack hook is modifying its input in place: "
        f"{writer} at {line}. The program still uses this tensor",
        fix="pack a copy: clone() it first, or use the out-of-place form",
        where=None,
    )


def _disabled(message: str, call: str) -> RuntimeError:
    return fail(
        RuntimeError,
        call=call,
        cause=message,
        fix="leave the disable_saved_tensors_hooks() block first",
    )


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """No saved-tensor hooks inside: who tries gets an error with this message."""
    if _state.keeper is not None:
        raise _disabled(error_message, "disable_saved_tensors_hooks() while hooks are in force")
    outer, _state.refusal = _state.refusal, error_message
    try:
        yield
    finally:
        _state.refusal = outer


class save_on_cpu(saved_tensors_hooks):
    """What is saved inside waits on the cpu, and returns to its device when backward needs it.

    For the tensors of a registered device.  A tensor that is on the cpu stays where it is, and
    nothing is copied, as in PyTorch; with ``pin_memory=True`` it is copied (into ordinary memory:
    NumPy has no other).
    """

    def __init__(self, pin_memory: bool = False) -> None:
        def pack_to_cpu(tensor: Tensor) -> tuple[Any, Tensor]:
            on_cpu = tensor.detach().cpu()
            return tensor.device, on_cpu.clone() if pin_memory else on_cpu

        def unpack_from_cpu(packed: tuple[Any, Tensor]) -> Tensor:
            device, on_cpu = packed
            return on_cpu.to(device)

        super().__init__(pack_to_cpu, unpack_from_cpu)
