"""One hook for the gradients of several tensors."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from whygrad.autograd.hooks.handles import RemovableHandle
from whygrad.autograd.hooks.nodes import Hook, add_tensor_hook
from whygrad.errors import describe, fail
from whygrad.source import Where, caller
from whygrad.tensor import Tensor

if TYPE_CHECKING:
    from whygrad.autograd.arrivals import Arrivals
    from whygrad.tensor.graph.node import Node

__all__ = ["register_multi_grad_hook"]


def register_multi_grad_hook(
    tensors: Sequence[Tensor],
    fn: Callable[[Any], Any],
    *,
    mode: Literal["all", "any"] = "all",
) -> RemovableHandle:
    """Call ``fn`` once per walk, when gradients of ``tensors`` are there.

    With ``mode="all"`` it gets the list of all of them, after the last; None stands for a tensor
    that this walk does not reach.  With ``mode="any"`` it gets the first one that arrives;
    constants among the tensors are passed over, as in PyTorch.  What ``fn`` returns is ignored.
    """
    call = f"register_multi_grad_hook(tensors, fn, mode={mode!r})"
    if mode not in ("all", "any"):
        raise fail(
            ValueError,
            call=call,
            cause=f"Expects mode to be one of ('all', 'any') but got {mode}",
            fix="leave mode out to wait for all gradients",
        )
    if mode == "any":
        tensors = [each for each in tensors if not isinstance(each, Tensor) or each.requires_grad]
    for position, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor) or tensor._node is None:
            raise fail(
                RuntimeError,
                call=call,
                cause="cannot register a hook on a tensor that doesn't require gradient: "
                f"tensors[{position}] is {describe(tensor)}",
                fix="pass tensors that require grad only",
            )
    group = _Group([tensor._node for tensor in tensors], fn, mode == "all", caller())
    return _Handles(
        add_tensor_hook(tensor, _Member(group, position)) for position, tensor in enumerate(tensors)
    )


class _Group(Hook):
    """The user's function; what it waits for belongs to a walk and goes with it."""

    __slots__ = ("_nodes", "_waits_for_all")

    def __init__(
        self, nodes: list[Node], function: Callable[[Any], Any], waits_for_all: bool, where: Where
    ) -> None:
        super().__init__(function, where)
        self._nodes = [weakref.ref(node) for node in nodes]  # they hold this hook
        self._waits_for_all = waits_for_all

    def arrived(self, walk: Arrivals, position: int, gradient: Tensor) -> None:
        first = self not in walk.gathered
        if not self._waits_for_all:
            walk.gathered[self] = None
            if first:
                self(walk, gradient)
            return
        if first:
            nodes = [node for each in self._nodes if (node := each()) is not None]
            expected = sum(map(walk.will_reach, nodes))
            walk.gathered[self] = ([None] * len(self._nodes), expected)
        gradients, expected = walk.gathered[self]
        gradients[position] = gradient
        walk.gathered[self] = (gradients, expected - 1)
        if expected == 1:
            self(walk, gradients)

    def finish(self, walk: Arrivals) -> None:
        """Nothing more will arrive: not every reachable tensor has been sent a gradient."""
        gathered = walk.gathered[self]
        if gathered is not None and gathered[1] > 0:
            with walk.user_code():
                self(walk, gathered[0])


class _Member(Hook):
    """Tells the group what arrived for one of its tensors."""

    __slots__ = ("_group", "_position")

    def __init__(self, group: _Group, position: int) -> None:
        super().__init__(group.function, group.where)
        self._group = group
        self._position = position

    def __call__(self, walk: Arrivals, *args: Any) -> None:
        self._group.arrived(walk, self._position, *args)


class _Handles(RemovableHandle):
    """Removes all hooks of a group."""

    def __init__(self, handles: Any) -> None:
        self._handles = tuple(handles)

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()

    def __getstate__(self) -> Any:
        return self._handles

    def __setstate__(self, state: Any) -> None:
        self._handles = state
