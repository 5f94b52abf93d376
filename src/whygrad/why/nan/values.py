"""What is known of the values in a graph, although nobody watched while it was made.

A node keeps what its rules need: inputs of one op, results of another.  With the data of the leaves
that is often enough to work out the rest, by running an op's kernel once more on inputs that are
known.  What was not kept and cannot be computed, such as the constant in ``x + c``, is unknown and
stays unknown: nothing is guessed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np

from whygrad.dispatch import quiet
from whygrad.dispatch.kernels import kernel_for
from whygrad.tensor import wrap
from whygrad.tensor.graph.node import AccumulateGrad, Node
from whygrad.why.syntax import parsed

__all__ = ["ABSENT", "KnownCall", "Values"]

Place = tuple[Node, int]  # a node and which of its outputs

ABSENT: Any = object()  # an optional argument that was not passed

# Ops whose parameters show in the shape and dtype of the result.
_BY_GEOMETRY: dict[str, Callable[[Any, Node], Any]] = {
    "cast": lambda x, node: x.astype(node.dtype),
    "clone": lambda x, _: x,
    "expand": lambda x, node: np.broadcast_to(x, node.shape),
    "squeeze": lambda x, node: x.reshape(node.shape),
    "unsqueeze": lambda x, node: x.reshape(node.shape),
    "view": lambda x, node: x.reshape(node.shape),
}


# Operators whose rules need no values, so that a number beside a tensor is not kept.
_OPERATORS: dict[str, type[ast.operator]] = {"add": ast.Add, "sub": ast.Sub}


class KnownCall(NamedTuple):
    """One recorded op call with what is known of it; None where a value is not."""

    node: Node
    inputs: list[Any]  # one per tensor argument; ABSENT where none was passed
    outputs: list[Any]  # one per result
    parameters: list[Any]  # those that were kept, up to the first that was not


class Values:
    """The values in a graph, as far as they are known."""

    def __init__(self, nodes: Iterable[Node], known: Mapping[Place, Any] | None = None) -> None:
        self.nodes = sorted(nodes, key=lambda node: node.order, reverse=True)  # oldest first
        self._kept: dict[Place, Any] = dict(known or {})  # by the node that made it
        self._operands: dict[tuple[Node, int], Any] = {}  # by who used it: constants, too
        self._uses: dict[Node, int] = {}
        current: set[int] = set()  # storages that still hold what was saved from them
        for node in self.nodes:
            if node.plan is None:
                continue
            for parent in node.parents:
                self._uses[parent] = self._uses.get(parent, 0) + 1
            if type(node.values) is tuple:  # what somebody else keeps may take their code to fetch
                self._read(node, current)
        for node in self.nodes:
            if isinstance(node, AccumulateGrad):
                self._read_leaf(node, current)

    def _read(self, node: Node, current: set[int]) -> None:
        """What one node saved, unless its memory has been written to since."""
        stale = {index for storage, version, index in node.guards if storage.version != version}
        current.update(
            id(storage) for storage, version, _ in node.guards if storage.version == version
        )
        plan = node.plan
        inputs = len(plan.needs) if plan.op.kind == "custom" else len(plan.op.tensor_names)
        for index, place in plan.guarded:
            value = node.values[index]
            if index in stale:
                continue
            if plan.op.variadic and place == 0:
                for position, each in enumerate(value):
                    self._enter_operand(node, position, each)
            elif place < inputs:
                self._enter_operand(node, place, value)
            elif isinstance(value, np.ndarray):
                self._kept.setdefault((node, place - inputs), value)

    def _enter_operand(self, node: Node, position: int, value: Any) -> None:
        self._operands[node, position] = ABSENT if value is None else value
        plan = node.plan
        if position in plan.positions and isinstance(value, np.ndarray):
            index = plan.positions.index(position)
            self._kept.setdefault((node.parents[index], node.slots[index]), value)

    def _read_leaf(self, leaf: AccumulateGrad, current: set[int]) -> None:
        """The data of a leaf, if it still is what the program computed with."""
        tensor = leaf.variable
        if tensor is None or (leaf, 0) in self._kept or type(tensor._array) is not np.ndarray:
            return
        storage = tensor._storage
        if storage.version == 0 or id(storage) in current:
            self._kept[leaf, 0] = tensor._array

    def of(self, node: Node, slot: int = 0) -> Any:
        """A value that was kept, or that follows from such values in one step; else None."""
        known = self._kept.get((node, slot))
        if known is None and node.plan is not None:
            results = _computed(node, self.inputs(node))
            known = None if results is None else results[slot]
        return known

    def inputs(self, node: Node) -> list[Any]:
        """The tensor arguments of a recorded call; None where unknown."""
        known = [self._operands.get((node, position)) for position in range(node.plan.arity)]
        edges = zip(node.plan.positions, node.parents, node.slots, strict=True)
        for position, parent, slot in edges:
            if known[position] is None:
                known[position] = self._kept.get((parent, slot))
        for position, value in enumerate(known):
            if value is None and position not in node.plan.positions:
                known[position] = _literal(node, position)
        return known

    def calls(self) -> Iterator[KnownCall]:
        """Every recorded call, oldest first; what had to be computed goes after its last use."""
        uses, computed = dict(self._uses), set[Place]()
        for node in self.nodes:
            if node.plan is None:
                continue
            inputs = self.inputs(node)
            slots = 1 if node.outputs is None else len(node.outputs)
            outputs = [self._kept.get((node, slot)) for slot in range(slots)]
            if any(each is None for each in outputs):
                results = _computed(node, inputs)
                if results is not None:
                    for slot, each in enumerate(results):
                        if outputs[slot] is None:
                            outputs[slot] = self._kept[node, slot] = each
                            computed.add((node, slot))
            yield KnownCall(node, inputs, outputs, _parameters(node))
            for parent in node.parents:
                uses[parent] -= 1
                if not uses[parent]:
                    for place in [(parent, slot) for slot in range(_slots(parent))]:
                        if place in computed:
                            computed.discard(place)
                            self._kept.pop(place)


def _chosen(node: Node, array: Any) -> list[Any] | None:
    """The results of an op that kept which elements it chose."""
    saved = dict(zip(node.plan.saved_names, node.unpacked(), strict=True))
    indices, dim = saved["indices"], saved["dim"]
    if not array.ndim:
        return [array.reshape(indices.shape), indices]
    whole = indices if indices.ndim == array.ndim else np.expand_dims(indices, dim)
    return [np.take_along_axis(array, whole, dim).reshape(indices.shape), indices]


def _literal(node: Node, position: int) -> Any:
    """An argument that stands in the user's line as a number, as in ``x + 1.0``; else None."""
    operator = _OPERATORS.get(node.plan.op.name)
    if operator is None:
        return None
    statements = parsed(node.where.whole_expression.strip()).body
    statement = statements[0] if statements else None
    expression = statement.value if isinstance(statement, ast.Expr) else statement
    if isinstance(expression, ast.AugAssign) and position == 1:
        operand = expression.value
    elif isinstance(expression, ast.BinOp):
        operand = (expression.left, expression.right)[position]
    else:
        return None
    if not isinstance(expression.op, operator):
        return None
    try:
        number = ast.literal_eval(operand)
    except ValueError:
        return None
    return np.asarray(number, node.dtype) if type(number) in (int, float) else None


def _slots(node: Node) -> int:
    return 1 if node.outputs is None else len(node.outputs)


def _computed(node: Node, inputs: list[Any]) -> list[Any] | None:
    """The results of a call, computed once more; None if that takes more than is known."""
    plan = node.plan
    op = plan.op
    if op.kind == "custom" or plan.on_tensors or any(each is None for each in inputs):
        return None
    try:
        if op.name in _BY_GEOMETRY:
            return [quiet.run(_BY_GEOMETRY[op.name], inputs[0], node)]
        if op.output_names == ("values", "indices"):
            return _chosen(node, inputs[0])
        inputs = [None if each is ABSENT else each for each in inputs]
        params = _parameters(node)
        if len(params) < len(op.param_names):
            return None
        bits = 0
        for each in inputs:
            if isinstance(each, np.ndarray):
                bits |= wrap(each)._keys
        kernel = kernel_for(op, bits).run
        result = quiet.run(kernel, *([inputs] if op.variadic else inputs), *params)
    except Exception:  # a guess at the arguments that the kernel does not take is no answer
        return None
    several = list(result) if isinstance(result, (tuple, list)) else [result]
    fits = len(several) == _slots(node) and np.shape(several[0]) == node.shape
    return [np.asarray(each) for each in several] if fits else None


def _parameters(node: Node) -> list[Any]:
    """The plain parameters of a call that were kept, up to the first that was not."""
    if type(node.values) is not tuple:
        return []
    saved = dict(zip(node.plan.saved_names, node.values, strict=True))
    return [saved[name] for name in takewhile(saved.__contains__, node.plan.op.param_names)]
