"""Hooks: functions of the user's that a gradient meets on its way.

A node keeps its hooks in its extras, so a graph without hooks costs nothing.  What happens when the
whole gradient of a node's outputs is there, in PyTorch's order:

1. the hooks of the tensors, in the order of registration, each seeing what the one before made;
2. ``retain_grad`` keeps the result, and ``grad(inputs=...)`` takes it;
3. the node's pre-hooks;
4. the node runs: a leaf adds to its ``.grad`` and calls its post-accumulate hooks;
5. the node's hooks, which see what it is about to send on.

A hook gets a tensor of its own: it may keep it, and what it writes into it counts as a replacement
that no other branch of the graph can see.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from whygrad.autograd.hooks.handles import RemovableHandle
from whygrad.errors import describe, fail
from whygrad.source import Where, caller
from whygrad.tensor import Tensor, keys, wrap
from whygrad.tensor.graph.node import AccumulateGrad, Node

if TYPE_CHECKING:
    from whygrad.autograd.arrivals import Arrivals

__all__ = [
    "Hook",
    "Hooks",
    "add_tensor_hook",
    "hooked_leaves",
    "hooks_of",
    "register_node_hook",
    "register_post_accumulate_grad_hook",
    "register_prehook",
    "register_tensor_hook",
]

Gradients = tuple[Any, ...]  # tensors, None where no gradient flows

# A walk looks for leaves that have to take their turn early only while one is alive somewhere.
# By hook, so that a handle that takes its hook away takes it away here, too.
hooked_leaves: weakref.WeakValueDictionary[int, AccumulateGrad] = weakref.WeakValueDictionary()


class Hook:
    """A user's function and the line that registered it."""

    __slots__ = ("function", "where")

    def __init__(self, function: Callable[..., Any], where: Where) -> None:
        self.function = function
        self.where = where

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)

    def __call__(self, walk: Arrivals, *args: Any) -> Any:
        try:
            return self.function(*args)
        except Exception as error:
            error.add_note(f"raised in the hook {self.name!r} registered at {self.where}")
            error.whygrad_explained = True  # type: ignore[attr-defined]
            raise

    def replaced(self, walk: Arrivals, gradient: Any) -> Any:
        """What the function makes of one gradient."""
        result = self(walk, gradient)
        return gradient if result is None else self._checked(walk, gradient, result)

    def all_replaced(self, walk: Arrivals, gradients: Gradients, *more: Gradients) -> Gradients:
        """What the function makes of all gradients of a node."""
        result = self(walk, gradients, *more)
        if result is None:
            return gradients
        if not isinstance(result, tuple):
            raise self._refuse(
                f"expected tuple, but hook returned {type(result).__name__!r}",
                "return a tuple with one gradient (or None) per place, or None to change nothing",
                TypeError,
            )
        if len(result) != len(gradients):
            raise self._refuse(
                f"hook {self.name!r} has returned an incorrect number of values (got "
                f"{len(result)}, but expected {len(gradients)})",
                "return one gradient (or None) per place, or None to change nothing",
            )
        return tuple(
            None if new is None else self._checked(walk, old, new)
            for old, new in zip(gradients, result, strict=True)
        )

    def _checked(self, walk: Arrivals, gradient: Any, result: Any) -> Any:
        if not isinstance(result, Tensor):
            raise self._refuse(
                f"expected Variable, but hook returned {type(result).__name__!r}",
                "return a tensor, or None to leave the gradient as it is",
                TypeError,
            )
        if gradient is None:
            raise self._refuse(
                "can't replace a None gradient with a non-None value: no gradient flows here",
                "return None in this place",
            )
        if result.shape != gradient.shape:
            raise self._refuse(
                f"hook {self.name!r} has changed the size of value: it got {describe(gradient)} "
                f"and returned {describe(result)}",
                "return one number per element of the gradient",
            )
        kept = keys.DTYPES | keys.DEVICES | keys.LAYOUTS
        if walk.on_arrays:
            kept |= keys.FORWARD | keys.BATCHED
        if (result._keys ^ gradient._keys) & kept:
            was, got = (" · ".join(keys.describe(each._keys & kept)) for each in (gradient, result))
            raise self._refuse(
                f"hook {self.name!r} has changed the type of value (was {was} got {got})",
                f"convert what it returns: result.to(whygrad.{gradient.dtype.name})"
                if result.dtype is not gradient.dtype
                else "return a tensor of the same kind as the gradient",
            )
        return result

    def _refuse(self, cause: str, fix: str, kind: type[Exception] = RuntimeError) -> Exception:
        call = f"the hook {self.name!r} registered at {self.where}"
        return fail(kind, call=call, cause=cause, fix=fix)


class Hooks:
    """The hooks of one node, by when they are called."""

    __slots__ = ("accumulated", "after", "before", "of_tensors", "retainers")

    def __init__(self) -> None:
        self.of_tensors: dict[int, OrderedDict[int, Hook]] = {}  # by output
        self.retainers: list[Callable[[Arrivals, Any], None]] = []
        self.before: OrderedDict[int, Hook] = OrderedDict()
        self.accumulated: OrderedDict[int, Hook] = OrderedDict()
        self.after: OrderedDict[int, Hook] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self.before or self.after or self.accumulated or any(self.of_tensors.values()))

    def all(self) -> list[Hook]:
        """Every function of the user's that this node knows."""
        groups = (*self.of_tensors.values(), self.before, self.accumulated, self.after)
        return [hook for group in groups for hook in group.values()]

    def arrived(self, walk: Arrivals, node: Node, incoming: Any) -> Any:
        """Call the hooks of the tensors; what they make of the gradient is retained."""
        for slot, hooks in self.of_tensors.items():
            gradient = incoming if node.outputs is None else incoming[slot]
            if gradient is None or not hooks:
                continue
            with walk.user_code():
                lent = _lent(gradient, node in walk.owned)
                for hook in list(hooks.values()):
                    lent = hook.replaced(walk, lent)
            walk.owned.discard(node)  # the user may have kept it
            if node.outputs is None:
                incoming = _sent(walk, lent)
            else:
                incoming[slot] = _sent(walk, lent)
        for retainer in self.retainers:
            retainer(walk, incoming)
        return incoming

    def before_node(self, walk: Arrivals, node: Node, incoming: Any) -> Any:
        """What the node gets to work with; None if that is nothing."""
        if not self.before:
            return incoming
        with walk.user_code():
            gradients = _all_lent(node, incoming)
            for hook in list(self.before.values()):
                gradients = hook.all_replaced(walk, gradients)
        walk.owned.discard(node)
        sent = [None if each is None else _sent(walk, each) for each in gradients]
        if node.outputs is None:
            return sent[0]
        replaced = list(incoming)
        for slot, each in zip(_shown(node), sent, strict=True):
            replaced[slot] = each
        return None if all(each is None for each in replaced) else replaced

    def after_node(
        self, walk: Arrivals, node: Node, gradients: Sequence[Any], incoming: Any
    ) -> list[Any]:
        """What goes on from the node: one gradient per tensor argument, None where none flows."""
        if not self.after:
            return list(gradients)
        with walk.user_code():
            passed = tuple(None if each is None else _lent(each) for each in gradients)
            received = _all_lent(node, incoming)
            for hook in list(self.after.values()):
                passed = hook.all_replaced(walk, passed, received)
        return [None if each is None else _sent(walk, each) for each in passed]

    def after_accumulation(self, walk: Arrivals, leaf: Tensor) -> None:
        """The leaf has its ``.grad``; the user may take it away again."""
        with walk.user_code():
            for hook in list(self.accumulated.values()):
                hook(walk, leaf)


def _lent(gradient: Any, owned: bool = False) -> Tensor:
    """A tensor that a hook may keep and write to."""
    from whygrad.autograd.fitting import fresh

    if isinstance(gradient, Tensor):
        return gradient.clone()
    return wrap(gradient) if owned else fresh(gradient)


def _all_lent(node: Node, incoming: Any) -> Gradients:
    if node.outputs is None:
        return (None if incoming is None else _lent(incoming),)
    arrived = [None if incoming is None else incoming[slot] for slot in _shown(node)]
    return tuple(None if each is None else _lent(each) for each in arrived)


def _shown(node: Node) -> list[int]:
    """Which outputs a hook gets to see: those that the user got and that may have a gradient."""
    op, outputs = node.plan.op, node.outputs or ()
    if op.kind == "custom":
        return list(range(len(outputs)))
    numbers = [slot for slot, (_, dtype) in enumerate(outputs) if dtype.kind not in "iub"]
    return numbers[: op.returned]


def _sent(walk: Arrivals, tensor: Tensor) -> Any:
    """What travels on: the payload, if this walk works on payloads."""
    return tensor._array if walk.on_arrays else tensor


def hooks_of(node: Node) -> Hooks:
    """The hooks of a node, to be added to."""
    extras = node.extras
    if extras.hooks is None:
        extras.hooks = Hooks()
    found: Hooks = extras.hooks
    return found


def register_tensor_hook(tensor: Tensor, function: Callable[[Tensor], Any]) -> RemovableHandle:
    """``Tensor.register_hook``"""
    _check("register_hook", tensor, function)
    return add_tensor_hook(tensor, Hook(function, caller()))


def add_tensor_hook(tensor: Tensor, hook: Hook) -> RemovableHandle:
    """Let ``hook`` see the gradient of a tensor that requires grad."""
    node = tensor._node
    group = hooks_of(node).of_tensors.setdefault(tensor._slot, OrderedDict())
    return _add(node, group, hook)


def register_post_accumulate_grad_hook(
    tensor: Tensor, function: Callable[[Tensor], Any]
) -> RemovableHandle:
    """``Tensor.register_post_accumulate_grad_hook``"""
    call = "register_post_accumulate_grad_hook"
    _check(call, tensor, function)
    node = tensor._node
    if not tensor.is_leaf:
        raise fail(
            RuntimeError,
            call=f"{call}() on {describe(tensor)}",
            cause="post accumulate grad hooks cannot be registered on non-leaf tensors: this one "
            f"was computed by {node.name()} at {node.where} and accumulates nothing",
            fix="use register_hook(), or register it on a leaf",
        )
    return _add(node, hooks_of(node).accumulated, Hook(function, caller()))


def register_prehook(node: Node, function: Callable[[Gradients], Any]) -> RemovableHandle:
    """``Node.register_prehook``"""
    _check_callable("register_prehook", node, function)
    return _add(node, hooks_of(node).before, Hook(function, caller()))


def register_node_hook(
    node: Node, function: Callable[[Gradients, Gradients], Any]
) -> RemovableHandle:
    """``Node.register_hook``"""
    _check_callable("register_hook", node, function)
    return _add(node, hooks_of(node).after, Hook(function, caller()))


def _add(node: Node, group: OrderedDict[int, Hook], hook: Hook) -> RemovableHandle:
    if isinstance(node, AccumulateGrad):
        handle = RemovableHandle(group, extra_dict=hooked_leaves)
        hooked_leaves[handle.id] = node
    else:
        handle = RemovableHandle(group)
    group[handle.id] = hook
    return handle


def _check(call: str, tensor: Tensor, function: Any) -> None:
    _check_callable(call, describe(tensor), function)
    if tensor._node is None:
        sample = bool(tensor._keys & keys.BATCHED)
        raise fail(
            RuntimeError,
            call=f"{call}() on {describe(tensor)}",
            cause="cannot register a hook on a tensor that doesn't require gradient"
            + (": inside vmap, only the whole batch has a place in the graph" if sample else ""),
            fix="register it on the input or on the result of vmap"
            if sample
            else "call requires_grad_() on it, or on the inputs it is computed from",
        )


def _check_callable(call: str, place: object, function: Any) -> None:
    if not callable(function):
        raise fail(
            TypeError,
            call=f"{call}({describe(function)}) on {place}",
            cause=f"{type(function).__name__!r} object is not callable",
            fix="pass a function",
        )
