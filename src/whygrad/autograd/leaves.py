"""What a user may ask of a tensor's place in the graph.

Becoming a leaf, ceasing to be one, getting a ``.grad`` assigned, keeping the ``.grad`` of a value
in the middle of the graph: each with PyTorch's conditions, checked before anything changes.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.errors import describe, fail
from whygrad.source import caller
from whygrad.tensor import keys, modes
from whygrad.tensor.graph import lineage
from whygrad.tensor.storage import CutStorage, Storage

if TYPE_CHECKING:
    from whygrad.autograd.arrivals import Arrivals
    from whygrad.source import Where
    from whygrad.tensor import Tensor

__all__ = [
    "add_to_grad",
    "check_gradient",
    "cut_off",
    "detach_batched",
    "increment_version",
    "is_retained",
    "move",
    "replace_data",
    "retain",
    "set_requires_grad",
    "warn_not_retained",
]


class _Frozen:
    """Keeps the hooks of a leaf while it does not require grad: in PyTorch they come back."""

    __slots__ = ("node",)

    def __init__(self, node: Any) -> None:
        self.node = node

    def __deepcopy__(self, memo: dict[int, Any]) -> None:
        """Hooks are not copied."""


def _freeze_hooks(leaf: Tensor) -> None:
    if leaf._node is not None and leaf._node._extras is not None:
        leaf.__dict__["_frozen"] = _Frozen(leaf._node)


def set_requires_grad(tensor: Tensor, wanted: Any) -> None:
    """Make ``tensor`` a leaf that collects a gradient, or a plain constant."""

    def refuse(cause: str, fix: str, kind: type[Exception] = RuntimeError) -> Exception:
        return fail(
            kind, call=f"requires_grad_({wanted!r}) on {describe(tensor)}", cause=cause, fix=fix
        )

    if not isinstance(wanted, bool):
        raise refuse("requires_grad must be a bool", "pass True or False", TypeError)
    if tensor._keys & keys.BATCHED:
        raise refuse(
            "You are attempting to call Tensor.requires_grad_() inside of a function being "
            "vmapped: a single sample of a batch has no place of its own in the graph",
            "call requires_grad_() on the whole batch, outside vmap",
        )
    if not wanted:
        if not tensor.is_leaf:
            raise refuse(
                "you can only change requires_grad flags of leaf variables: this one was computed "
                f"by {tensor._node.name()} at {tensor._node.where}",
                "use x.detach() to get a tensor without history",
            )
        _freeze_hooks(tensor)
        tensor._leave_graph()
        lineage.new_constant(tensor)
        return
    if not tensor.dtype.is_differentiable:
        raise refuse(
            "only Tensors of floating point and complex dtype can require gradients",
            "convert it first: x.to(whygrad.float32).requires_grad_()",
        )
    if tensor.is_inference() and not modes.state.inference:
        raise refuse(
            "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed",
            "clone() it first, or make it under no_grad() instead of inference_mode()",
        )
    from whygrad.tensor.graph.node import AccumulateGrad

    frozen = tensor.__dict__.pop("_frozen", None)
    tensor._enter_graph(AccumulateGrad(tensor) if frozen is None else frozen.node)
    lineage.new_leaf(tensor)


def detach_batched(tensor: Tensor) -> Tensor:
    """The same batch behind a sample, cut off from the graph."""
    from whygrad.autograd.transforms.batching import add_batch

    return add_batch(tensor._array.tensor.detach(), tensor._array.level)


def cut_off(tensor: Tensor) -> Tensor:
    """Forget how ``tensor`` was computed, in place."""
    if tensor._base is not None:
        raise fail(
            RuntimeError,
            call=f"detach_() on {describe(tensor)}",
            cause="Can't detach views in-place: the base would still record what is written here",
            fix="use detach() instead, or detach_() the base",
        )
    if tensor.is_leaf:
        _freeze_hooks(tensor)
    node = tensor._node
    tensor._leave_graph()
    if node is not None:
        lineage.cut_off(tensor, node)
    if tensor._tangent is not None:
        from whygrad.autograd.transforms.forward_ad import set_tangents

        set_tangents(tensor, {})
    storage = tensor._storage
    if type(storage) is Storage and storage.live_views():
        storage.__class__ = CutStorage
    return tensor


def replace_data(tensor: Tensor, value: Any) -> None:
    """``tensor.data = value``: other memory, same place in the graph."""
    from whygrad.tensor import Tensor

    def refuse(cause: str, fix: str, kind: type[Exception] = RuntimeError) -> Exception:
        return fail(
            kind, call=f"x.data = {describe(value)} on x: {describe(tensor)}", cause=cause, fix=fix
        )

    if not isinstance(value, Tensor):
        raise refuse(
            f"Variable data has to be a tensor, but got {type(value).__name__}",
            "wrap it: whygrad.tensor(value)",
            TypeError,
        )
    if (value._keys ^ tensor._keys) & (keys.DEVICES | keys.LAYOUTS):
        raise refuse(
            "`variable` and `tensor` have incompatible tensor type: device or layout differ",
            "convert the new data first with to() or to_dense()",
        )
    if tensor.requires_grad and not value.dtype.is_differentiable:
        raise refuse(
            "data set to a tensor that requires gradients must be floating point",
            f"convert the new data: value.to(whygrad.{tensor.dtype.name})",
        )
    if not tensor.is_leaf and (value.shape != tensor.shape or value.dtype is not tensor.dtype):
        raise refuse(
            f"{tensor._node.name()} will send back a gradient for {describe(tensor)}",
            "give a value inside the graph data of the same shape and dtype only",
        )
    frozen = tensor.__dict__.get("_frozen")
    leaf = tensor._node if frozen is None else frozen.node
    tensor._array = value._array
    tensor._storage = value._storage
    tensor._keys = tensor._keys & ~keys.DTYPES | value._keys & keys.DTYPES
    if (tensor._keys | value._keys) & (keys.AUTOGRAD | keys.CUT):
        lineage.new_data(tensor, value)
    if leaf is not None and leaf.plan is None:
        leaf.shape = value._array.shape
        leaf.dtype = value._array.dtype


class _Retainer:
    """Keeps what arrives for one output of a node.

    It knows the tensor only weakly: a node must not keep alive what it produced.
    """

    __slots__ = ("_slot", "_tensor")

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = weakref.ref(tensor)
        self._slot = tensor._slot

    def serves(self, tensor: Tensor) -> bool:
        return self._tensor() is tensor

    def __call__(self, walk: Arrivals, incoming: Any) -> None:
        from whygrad.autograd.fitting import fresh
        from whygrad.tensor import Tensor

        tensor = self._tensor()
        arrived = incoming[self._slot] if isinstance(incoming, list) else incoming
        if tensor is None or arrived is None:
            return
        with walk.user_code():
            gradient = arrived.clone() if isinstance(arrived, Tensor) else fresh(arrived)
            walk.kept.append((tensor, tensor._grad))
            tensor._grad = gradient if tensor._grad is None else tensor._grad + gradient


def retain(tensor: Tensor) -> None:
    """Keep the gradient of a tensor that is not a leaf, too."""
    if not tensor.requires_grad:
        raise fail(
            RuntimeError,
            call=f"retain_grad() on {describe(tensor)}",
            cause="can't retain_grad on Tensor that has requires_grad=False",
            fix="call requires_grad_() on the inputs it is computed from",
        )
    if tensor.is_leaf or is_retained(tensor):
        return
    from whygrad.autograd.hooks.nodes import hooks_of

    hooks_of(tensor._node).retainers.append(_Retainer(tensor))


def move(tensor: Tensor, node: Any, slot: int) -> None:
    """Give ``tensor`` another place in the graph.

    What it retains is the gradient there; its hooks stay where they were registered and see the
    gradient of the value it had.
    """
    retainer = _retainer(tensor)
    if retainer is not None:
        tensor._node.extras.hooks.retainers.remove(retainer)
    tensor._enter_graph(node, slot)
    if retainer is not None:
        retain(tensor)


def is_retained(tensor: Tensor) -> bool:
    return _retainer(tensor) is not None


def _retainer(tensor: Tensor) -> _Retainer | None:
    extras = None if tensor._node is None else tensor._node._extras
    if extras is None or extras.hooks is None:
        return None
    return next((each for each in extras.hooks.retainers if each.serves(tensor)), None)


def add_to_grad(tensor: Tensor, gradient: Tensor, create_graph: bool, where: Where) -> None:
    """Add to ``.grad``: in place, unless the sum has a history of its own."""
    before = tensor._grad
    if before is None:
        tensor._grad = gradient
    elif create_graph or not _adds_in_place(before._array, gradient._array):
        tensor._grad = before + gradient
    else:
        before._storage.prepare_write("backward", where)
        np.add(before._array, gradient._array, out=before._array)
        before._storage.bump("backward", where)


def _adds_in_place(before: Any, gradient: Any) -> bool:
    """Not into a ``.grad`` the user assigned that is read-only, or several elements in one."""
    if type(before) is not np.ndarray or type(gradient) is not np.ndarray:
        return False
    return before.flags.writeable and 0 not in before.strides


def warn_not_retained(tensor: Tensor) -> None:
    """Tell the reader of an empty ``.grad`` why it is empty."""
    node = tensor._node
    warnings.warn(
        f"The .grad attribute of a Tensor that is not a leaf Tensor is being accessed: this one "
        f"was computed by {node.name()} at {node.where}, and backward() keeps gradients of leaves "
        "only. Call retain_grad() on it before backward(), or read .grad of the leaf you meant.",
        UserWarning,
        stacklevel=3,
    )


def check_gradient(tensor: Tensor, gradient: Any) -> None:
    """Raise unless ``gradient`` may become ``tensor.grad``."""
    from whygrad.tensor import Tensor

    def refuse(kind: type[Exception], cause: str, fix: str) -> Exception:
        return fail(
            kind,
            call=f"x.grad = {describe(gradient)} on x: {describe(tensor)}",
            cause=cause,
            fix=fix,
        )

    if gradient is None:
        return
    if not isinstance(gradient, Tensor):
        raise refuse(
            TypeError,
            "assigned grad expected to be a Tensor or None but got grad of type "
            f"{type(gradient).__name__}",
            "wrap it: whygrad.tensor(value)",
        )
    if gradient is tensor:
        raise refuse(
            RuntimeError, "can't assign Variable as its own grad", "assign x.detach().clone()"
        )
    if gradient.dtype is not tensor.dtype:
        raise refuse(
            RuntimeError,
            f"attempting to assign a gradient with dtype '{gradient.dtype.name}' to a tensor with "
            f"dtype '{tensor.dtype.name}'",
            f"convert it: gradient.to(whygrad.{tensor.dtype.name})",
        )
    if (gradient._keys ^ tensor._keys) & keys.DEVICES:
        raise refuse(
            RuntimeError,
            f"attempting to assign a gradient with device type '{gradient.device}' to a tensor "
            f"with device type '{tensor.device}'",
            f"move it: gradient.to('{tensor.device}')",
        )
    if gradient.shape != tensor.shape:
        raise refuse(
            RuntimeError,
            f"attempting to assign a gradient of size '{list(gradient.shape)}' to a tensor of size "
            f"'{list(tensor.shape)}'",
            "a gradient has one number per element: reshape it",
        )


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Note a write that went past the tensors: what was saved of their memory counts as old.

    For tensors made in ``inference_mode`` there is nothing to note: they have no version.
    """
    from whygrad.tensor import Tensor

    tensors = [tensor] if isinstance(tensor, Tensor) else tensor
    known = list(tensors) if isinstance(tensors, Iterable) else [tensors]
    for each in known:
        if not isinstance(each, Tensor):
            raise fail(
                RuntimeError,
                call=f"increment_version({describe(tensor)})",
                cause="increment_version expect a Iterable[Tensor] as input, not "
                f"{type(each).__name__}",
                fix="pass a tensor, or a list of tensors",
            )
    for each in known:
        each._storage.bump("increment_version", caller())
