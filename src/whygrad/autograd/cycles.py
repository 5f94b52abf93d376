"""Does a ``.grad`` keep its own leaf alive?

After ``backward(create_graph=True)`` a leaf holds ``.grad``, and ``.grad`` holds the graph it was
computed by.  Nodes know leaves only weakly, so by itself that is no cycle.  It becomes one if a
node holds something of the user's that refers to the leaf: a hook, a packed value, a ``ctx``.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

from whygrad.errors import describe
from whygrad.ops.define import Op
from whygrad.ops.plan import Plan
from whygrad.source import Where
from whygrad.tensor import Tensor
from whygrad.tensor.graph.node import Node
from whygrad.tensor.graph.reach import reachable

__all__ = ["warn_of_cycles"]

_MOST = 2_000  # objects to look at before giving up: this is advice, not bookkeeping


def warn_of_cycles(leaves: Iterable[Tensor], where: Where) -> None:
    """Warn if the ``.grad`` of one of the leaves leads back to it."""
    filled = {id(leaf): leaf for leaf in leaves}
    for node in _graph_of_gradient(*filled.values()):
        for what, holder in _holders(node):
            leaf = _first_reached(holder, filled)
            if leaf is not None and node in _graph_of_gradient(leaf):
                _warn(leaf, what, where)
                return


def _graph_of_gradient(*leaves: Tensor) -> set[Node]:
    gradients = (leaf._grad for leaf in leaves)
    return reachable(each._node for each in gradients if each is not None and each._node)


def _holders(node: Node) -> Iterator[tuple[str, Any]]:
    """Things of the user's that a node keeps alive."""
    if node._extras is not None and node._extras.hooks is not None:
        for hook in node._extras.hooks.all():
            yield f"the hook {hook.name!r} registered at {hook.where}", hook.function
    if node.plan is not None and type(node.plan) is not Plan:
        yield f"what {node.name()} keeps since {node.where}", node.plan
    if type(node.values) is not tuple:
        yield f"what {node.name()} saved at {node.where}", node.values


def _first_reached(start: Any, wanted: dict[int, Tensor]) -> Tensor | None:
    seen = {id(start)}
    waiting = [start]
    for looked_at in waiting:
        if id(looked_at) in wanted:
            return wanted[id(looked_at)]
        if len(waiting) > _MOST:
            return None
        for each in _referents(looked_at):
            if id(each) not in seen and not isinstance(each, _NOT_FOLLOWED):
                seen.add(id(each))
                waiting.append(each)
    return None


# Globals live anyway, nodes are looked at one by one.
_NOT_FOLLOWED = (CodeType, ModuleType, Node, Op, type)


def _referents(value: Any) -> Iterable[Any]:
    if isinstance(value, FunctionType):
        return [value.__closure__, value.__defaults__, value.__kwdefaults__, value.__dict__]
    return gc.get_referents(value)


def _warn(leaf: Tensor, what: str, where: Where) -> None:
    named = f"{describe(leaf)} {leaf.name!r}" if leaf.name else describe(leaf)
    warnings.warn_explicit(
        "Using backward() with create_graph=True will create a reference cycle between the "
        f"parameter and its gradient, so both stay until the garbage collector runs: {what} "
        f"refers to the leaf {named}, and its .grad needs that for a graph of its own. Use "
        "autograd.grad(), which stores nothing, or set .grad to None after use.",
        UserWarning,
        where.file,
        where.line,
    )
