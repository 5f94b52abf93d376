"""A type of node for each op, for programs that look at the graph as they do in PyTorch.

Graph drawers show ``type(node).__name__`` and list what a node keeps by its attributes that begin
with ``_saved_``.  So a node that somebody looks at (``grad_fn``, ``next_functions``) becomes an
instance of a subclass with PyTorch's name and names.  The others stay what they are: the walk is
faster when all nodes have one type.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from whygrad.tensor.graph.node import AccumulateGrad, ManyOutputs, Node

if TYPE_CHECKING:
    from collections.abc import Callable

    from whygrad.ops.define import Op
    from whygrad.tensor import Tensor

__all__ = ["shown"]

_SECOND = {"b": "other", "y": "other"}  # of two operands
_of_functions: dict[str, type[Node]] = {}  # by name: a function class may come and go
_GEOMETRY = {"shape": "sym_sizes", "dtype": "scalar_type"}


def shown(node: Node) -> Node:
    """The node, with a type of its own."""
    kind = type(node)
    if kind is Node or kind is ManyOutputs:
        node.__class__ = _node_type(node.plan.op, kind)
    elif kind.__name__ == "FunctionNode":
        node.__class__ = _function_node_type(node.plan.op.node_name, kind)
    return node


def _node_type(op: Op, base: type[Node]) -> type[Node]:
    """The type for nodes of ``op``, named as PyTorch names the first overload."""
    known = op.node_types.get(base)
    if known is None:
        members: dict[str, Any] = {"__slots__": (), "__doc__": op.formula}
        for name in _kept_by(op):
            members[f"_saved_{_torch_name(op, name)}"] = property(_reader(name))
        known = op.node_types[base] = _made(f"{_capitals(op.node_name)}0", base, members)
    return known


def _function_node_type(name: str, base: type[Node]) -> type[Node]:
    """The type for nodes of a custom function."""
    known = _of_functions.get(name)
    if known is None:
        known = _of_functions[name] = _made(name, base, {"__slots__": ()})
    return known


def _made(name: str, base: type[Node], members: dict[str, Any]) -> type[Node]:
    return type(name, (base,), {**members, "__module__": base.__module__})


def _capitals(name: str) -> str:
    """``Log1pBackward`` is ``Log1PBackward`` there."""
    return re.sub(r"(\d)([a-z])", lambda found: found[1] + found[2].upper(), name)


def _kept_by(op: Op) -> list[str]:
    from whygrad.ops.plan import names_needed_by

    rules = op.vjp.values() if isinstance(op.vjp, dict) else [op.vjp]
    names = dict.fromkeys(
        name for rule in rules if rule is not None for name in names_needed_by(rule)
    )
    return [name for name in names if name != "needs"]


def _torch_name(op: Op, name: str) -> str:
    """What PyTorch calls a saved value: the first tensor is ``self``, the output ``result``."""
    base, _, what = name.rpartition("_")
    if what in _GEOMETRY and base in op.tensor_names:
        return f"{_torch_name(op, base)}_{_GEOMETRY[what]}"
    if name in op.output_names:
        return "result" if name == "y" else name
    if name in op.tensor_names[:1]:
        return "tensors" if op.variadic else "self"
    if len(op.tensor_names) == 2 and name == op.tensor_names[1]:
        return _SECOND.get(name, name)
    return name


def _reader(name: str) -> Callable[[Node], Any]:
    def saved(node: Node) -> Any:
        from whygrad.autograd.saving.values import as_tensors

        names = node.plan.saved_names
        if name not in names:  # this call had no use for it
            return None
        index = names.index(name)
        value = as_tensors(node, node.unpacked())[index]
        return _the_leaf_itself(node, index, value)

    return saved


def _the_leaf_itself(node: Node, index: int, value: Any) -> Tensor | Any:
    place = dict(node.plan.guarded).get(index)
    if place in node.plan.positions and not node.plan.op.variadic:
        parent = node.parents[node.plan.positions.index(place)]
        leaf = parent.variable if isinstance(parent, AccumulateGrad) else None
        if leaf is not None and leaf._array is value._array:
            return leaf
    return value
