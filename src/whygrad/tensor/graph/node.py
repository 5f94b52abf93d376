"""The tape: nodes that remember how a value came to be.

A Node holds its op, edges to the nodes of its inputs, what the rules will need (with the version
of the memory at that moment), a sequence number and the user's source line.  It never refers to
the tensor it produced, so there are no reference cycles and memory goes with the last reference.
"""

from __future__ import annotations

import weakref
from itertools import count
from typing import TYPE_CHECKING, Any

from whygrad.errors import fail
from whygrad.source import Where, user_frame
from whygrad.tensor.above import above

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType

    from whygrad.autograd.hooks.handles import RemovableHandle
    from whygrad.autograd.hooks.nodes import Hooks
    from whygrad.ops.define import Op
    from whygrad.ops.plan import Plan
    from whygrad.tensor import Tensor
    from whygrad.tensor.graph.steps import Source, Step
    from whygrad.tensor.storage import Storage

__all__ = ["AccumulateGrad", "Edge", "Extras", "Freed", "ManyOutputs", "Node", "Packed"]

Edge = tuple["Node | None", int]

# Counts down, so that a min-heap of orders pops the youngest node first.  An op runs after its
# inputs exist, hence youngest-first is a reverse topological order: no dependency counting.
next_order = count(0, -1).__next__


class Freed:
    """Stands where the saved values were, and knows which backward call released them."""

    __slots__ = ("where",)

    at_hand = True  # the error is

    def __init__(self, where: Where) -> None:
        self.where = where

    def unpack(self, node: Node) -> tuple[Any, ...]:
        raise fail(
            RuntimeError,
            call=f"{node.name()} needs the values it saved at {node.where}",
            cause="trying to backward through the graph a second time: they were freed by the "
            f"backward() at {self.where}",
            fix="pass retain_graph=True to that backward(), or add the losses and call "
            "backward() once",
            where=None,
        )


class Packed:
    """Stands where the saved values were while somebody else keeps them (pack hooks, a checkpoint).

    Where an array was, ``values`` holds something with an ``open()`` that gives it back; where a
    list of arrays was, a list of those.
    """

    __slots__ = ("values",)

    at_hand = False  # whether unpacking is quick and runs nobody else's code

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values

    def unpack(self, node: Node) -> tuple[Any, ...]:
        values = list(self.values)
        for index, _ in node.plan.guarded:
            box = values[index]
            if isinstance(box, list):
                values[index] = [each.open() for each in box]
            elif hasattr(box, "open"):
                values[index] = box.open()
        return tuple(values)


class Extras:
    """What few nodes have; most nodes carry None instead, which costs one slot."""

    __slots__ = ("cuts", "hooks", "memo", "metadata", "tangents")

    def __init__(self) -> None:
        self.hooks: Hooks | None = None  # see the gradient when the node runs
        # of inputs and outputs, while a forward-mode level is open
        self.tangents: tuple[Any, ...] | None = None
        self.cuts: dict[int, Step] | None = None  # arguments that came from a graph, cut off
        self.memo: Any = None  # what anomaly mode remembers of the call
        self.metadata: dict[str, Any] | None = None  # free for the user


class Node:
    """One recorded op call."""

    __slots__ = (
        "__weakref__",
        "_extras",
        "code",
        "dtype",
        "guards",
        "instruction",
        "order",
        "parents",
        "plan",
        "shape",
        "slots",
        "values",
    )

    plan: Plan  # which rule serves which parent, and what each rule needs
    parents: tuple[Any, ...]  # nodes of the inputs that require grad, in argument order
    slots: tuple[int, ...]  # which output of the parent each edge comes from
    values: Any  # what the rules need: a tuple of raw arrays and plain parameters, Packed or Freed
    guards: tuple[tuple[Storage, int, int], ...]  # (storage, version, index into values)
    shape: tuple[int, ...]  # of the output (of output 0 if there are several)
    dtype: Any  # NumPy dtype of the output
    order: int
    code: CodeType
    instruction: int
    _extras: Extras | None

    outputs: tuple[tuple[tuple[int, ...], Any], ...] | None = None  # see ManyOutputs

    @property
    def extras(self) -> Extras:
        """Room for hooks and tangents."""
        if self._extras is None:
            self._extras = Extras()
        return self._extras

    @property
    def op(self) -> Op:
        return self.plan.op

    def name(self) -> str:
        """PyTorch's way of naming: ``MulBackward``."""
        return self.plan.op.node_name

    @property
    def next_functions(self) -> tuple[Edge, ...]:
        """One (node, output slot) per tensor argument; (None, 0) where no gradient flows."""
        edges: list[Edge] = [(None, 0)] * self.plan.arity
        for position, parent, slot in zip(
            self.plan.positions, self.parents, self.slots, strict=True
        ):
            edges[position] = (above.shown(parent), slot)
        return tuple(edges)

    @property
    def sequence_nr(self) -> int:
        return -self.order

    def _sequence_nr(self) -> int:
        return -self.order

    @property
    def metadata(self) -> dict[str, Any]:
        """Room for the user's own notes about this node."""
        extras = self.extras
        if extras.metadata is None:
            extras.metadata = {}
        return extras.metadata

    def register_hook(
        self, fn: Callable[[tuple[Any, ...], tuple[Any, ...]], Any]
    ) -> RemovableHandle:
        """Call ``fn(grad_inputs, grad_outputs)`` after this node ran.

        ``grad_inputs`` is what goes on, one per tensor argument (None where no gradient flows); a
        tuple that ``fn`` returns goes on in its place.
        """
        return above.register_node_hook(self, fn)

    def register_prehook(self, fn: Callable[[tuple[Any, ...]], Any]) -> RemovableHandle:
        """Call ``fn(grad_outputs)`` before this node runs; a tuple it returns is used instead."""
        return above.register_prehook(self, fn)

    @property
    def where(self) -> Where:
        """The user's line that made this node."""
        return Where(self.code, self.instruction)

    @property
    def saved(self) -> dict[str, Any]:
        """What backward keeps for this op, by name; an error once it has been released."""
        return dict(zip(self.plan.saved_names, self.unpacked(), strict=True))

    def unpacked(self) -> tuple[Any, ...]:
        """The saved values, wherever they are kept."""
        values: tuple[Any, ...] = (
            self.values if type(self.values) is tuple else self.values.unpack(self)
        )
        return values

    def check_versions(self) -> None:
        """Refuse to compute with a saved value whose memory has been written since."""
        for storage, version, index in self.guards:
            if storage.version != version:
                raise self._overwritten(storage, version, index)

    def _overwritten(self, storage: Storage, version: int, index: int) -> RuntimeError:
        writer, line = storage.last_writer or ("an unknown writer", "an unknown line")
        what = f"'{self.plan.saved_names[index]}'"
        leaf = self._leaf_behind(storage, index)
        if leaf is not None:
            what += f", which is {leaf.description},"
            fix = (
                "write to it after the last backward() that needs the old value; to go back again "
                "after a step, run the forward again instead of retaining the graph"
            )
        elif writer == "backward":
            fix = "it is a .grad: clone() it to compute with it, or set .grad to None after use"
        elif writer.startswith(".data."):
            fix = "write to a clone(): .data is the same memory"
        elif writer == "__setitem__":
            fix = "pick values with whygrad.where(), or write to a clone()"
        else:
            fix = f"use the out-of-place form of {writer}, or write to a clone()"
        return fail(
            RuntimeError,
            call=f"{self.name()} saved {what} at {self.where}",
            cause="one of the variables needed for gradient computation has been modified by an "
            f"inplace operation: {writer} wrote to this memory at {line} (saved at version "
            f"{version}, now at version {storage.version})",
            fix=fix,
            where=None,
        )

    def _leaf_behind(self, storage: Storage, index: int) -> AccumulateGrad | None:
        """The leaf that a saved value is, or looks at through views."""
        place = dict(self.plan.guarded).get(index)
        if place is None or place >= len(self.plan.op.tensor_names):
            return None
        if self.plan.op.variadic:
            place = [each for each, _, guarded in self.guards if guarded == index].index(storage)
        if place not in self.plan.positions:
            return None
        parent: Node = self.parents[self.plan.positions.index(place)]
        while parent.plan is not None and parent.plan.op.kind == "view":
            parent = parent.parents[0]
        return parent if isinstance(parent, AccumulateGrad) else None

    def __repr__(self) -> str:
        return f"<{self.name()} at {self.where}>"

    def __reduce__(self) -> Any:
        raise fail(
            TypeError,
            call=f"a copy or pickle of {self!r}",
            cause=f"cannot pickle '{self.name()}' object: it is a part of its graph",
            fix="copy the values: x.detach()",
        )


class ManyOutputs(Node):
    """A node whose op has several results; ``outputs`` holds the (shape, dtype) of each."""

    __slots__ = ("outputs",)


class AccumulateGrad(Node):
    """The end of a path: adds what arrives to ``leaf.grad``.

    It knows its leaf only weakly.  A leaf that is gone has no ``.grad`` anyone could read, and a
    ``.grad`` that carries a graph of its own (create_graph) therefore makes no cycle.
    """

    __slots__ = ("_leaf", "source")

    def __init__(self, leaf: Tensor) -> None:
        self._leaf = weakref.ref(leaf)
        self.source: Source | None = None  # for values that leave the graph right here
        self.plan = None  # type: ignore[assignment]  # what tells a leaf from an op
        self.order = next_order()
        self.shape = leaf._array.shape
        self.dtype = leaf._array.dtype
        self.parents = ()
        self.slots = ()
        self.values = ()
        self.guards = ()
        self._extras = None
        frame = user_frame()
        self.code, self.instruction = frame.f_code, frame.f_lasti

    @property
    def variable(self) -> Tensor | None:
        """The leaf, or None if it has been deleted."""
        return self._leaf()

    @property
    def description(self) -> str:
        """The leaf by its name, if the user gave it one, what it is and since when."""
        leaf = self._leaf()
        name = "a leaf" if leaf is None or leaf.name is None else f"the leaf {leaf.name!r}"
        described = f"{self.dtype}[{', '.join(map(str, self.shape))}]"
        hooks = None if self._extras is None else self._extras.hooks
        written = "".join(
            f", with a post-accumulate hook from {hook.where}"
            for hook in ([] if hooks is None else hooks.accumulated.values())
        )
        return f"{name} ({described}, since {self.where}{written})"

    def name(self) -> str:
        return "AccumulateGrad"

    @property
    def next_functions(self) -> tuple[Edge, ...]:
        return ()

    @property
    def saved(self) -> dict[str, Any]:
        return {}
