"""Nodes at which a derivative ends with an error, instead of being wrong without notice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from whygrad.autograd import leaves
from whygrad.autograd.transforms.batching import add_batch
from whygrad.errors import describe, fail
from whygrad.ops.define import Op
from whygrad.source import Where, user_frame
from whygrad.tensor import Tensor, alias, keys
from whygrad.tensor.graph import bases
from whygrad.tensor.graph.node import Node, next_order

__all__ = ["physical", "refuse_overwritten", "refusing", "refusing_node"]


class _RefusalPlan:
    """What the engine asks of a plan, for a rule that raises."""

    regular = on_tensors = in_float32 = conjugates = saves_arrays = ties = False
    guarded: tuple[Any, ...] = ()
    saved_names: tuple[str, ...] = ()

    def __init__(self, name: str, arity: int, error: Callable[[], Exception]) -> None:
        self.op = Op(
            name, "its derivative is refused", kind="custom", forward=_nothing, vjp=None,
            internal=True,
        )  # fmt: skip
        self.op.node_name = name
        self.arity = arity
        self.positions = tuple(range(arity))
        self.needs = (True,) * arity
        self.error = error

    @property
    def rules(self) -> Any:
        return ((self.joint, None),)

    def joint(self, xp: Any, incoming: Any) -> Any:
        raise self.error()


def _nothing(*_: Any) -> None: ...


def refusing_node(
    tensor: Tensor, sources: Iterable[Tensor], name: str, error: Callable[[], Exception]
) -> Node:
    """A node in the place of ``tensor``: who goes from there towards the sources gets the error."""
    parents = [each for each in sources if each._node is not None]
    node = Node()
    node.plan = _RefusalPlan(name, len(parents), error)  # type: ignore[assignment]
    node.parents = tuple(each._node for each in parents)
    node.slots = tuple(each._slot for each in parents)
    node.values = node.guards = ()
    node.shape, node.dtype = tensor._array.shape, tensor._array.dtype
    node.order = next_order()
    frame = user_frame()
    node.code, node.instruction = frame.f_code, frame.f_lasti
    node._extras = None
    return node


def refusing(
    tensor: Tensor, sources: Iterable[Tensor], name: str, error: Callable[[], Exception]
) -> Tensor:
    """The value of ``tensor``, as something computed from ``sources`` without a derivative."""
    if tensor._keys & keys.BATCHED:
        inner = refusing(tensor._array.tensor, sources, name, error)
        return add_batch(inner, tensor._array.level)
    return alias(tensor, refusing_node(tensor, sources, name, error))


def refuse_overwritten(view: Tensor, base: Tensor, made: bases.Made) -> None:
    """The memory of a custom function's view was written to: nobody knows its derivative now."""
    op, code, instruction = made
    wrote, line = base._storage.last_writer or ("a write", "an unknown line")
    maker = op.name if code is None else f"{op.name} at {Where(code, instruction)}"
    shown = describe(view)

    def error() -> RuntimeError:
        return fail(
            RuntimeError,
            call=f"the derivative of {shown}, a view made by {maker}",
            cause="its base or another view of its base has been modified inplace: by "
            f"{wrote} at {line}. This view was created inside a custom Function (or an input was "
            "returned as-is), and the write would override its backward",
            fix=f"clone() the output of {op.name}, or use the out-of-place form of {wrote}",
            where=None,
        )

    leaves.move(view, refusing_node(view, (view, base), f"{op.name}Overwritten", error), 0)


def physical(tensor: Tensor) -> Tensor:
    """The tensor with all samples: it is the one that has a place in the graph."""
    while tensor._keys & keys.BATCHED:
        tensor = tensor._array.tensor
    return tensor
