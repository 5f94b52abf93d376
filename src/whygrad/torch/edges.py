"""PyTorch's graph as the walk back from a zero sees it: nodes that can be asked again.

A node of PyTorch is callable: given other incoming gradients it answers from what it saved.
Nothing is freed, no hook is called, no ``.grad`` changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from whygrad.torch import ops
from whygrad.torch.backward import Place, run
from whygrad.torch.finite import array_to_tensor
from whygrad.torch.flow import dense, fitted
from whygrad.torch.graph import leads_to, oldest_first, where_of
from whygrad.why.zero.walk import WalkedEdge

__all__ = ["TorchEdge", "TorchGraph"]

# Sums of products: the gradient of one factor is the incoming gradient times the other.
_PRODUCTS: dict[str, Callable[..., torch.Tensor]] = {
    "addmm": torch.addmm,
    "addmv": torch.addmv,
    "baddbmm": torch.baddbmm,
    "bmm": torch.bmm,
    "dot": torch.dot,
    "mm": torch.mm,
    "mv": torch.mv,
}


class TorchGraph:
    """The part of PyTorch's graph between a root and the tensor that was asked about."""

    def __init__(self, root: Any, target: Place) -> None:
        self.target = target
        self.useful = leads_to(root, target)
        youngest_first = reversed(oldest_first(self.useful))
        self._ranks = {node: rank for rank, node in enumerate(youngest_first)}

    def rank(self, node: Any) -> int:
        return self._ranks[node]

    def outputs(self, node: Any) -> int:
        return len(node._input_metadata)

    def run(self, node: Any, incoming: list[Any]) -> list[WalkedEdge]:
        names = ops.argument_names(node)
        sent = _answers(node, incoming)
        return [
            TorchEdge(
                node=node,
                source=parent,
                slot=slot,
                op=ops.op_name(node),
                argument=names[index],
                where=where_of(node),
                incoming=incoming,
                contribution=sent[index],
                index=index,
            )
            for index, (parent, slot) in enumerate(node.next_functions)
            if self._leads_on(parent, slot) and sent[index] is not None
        ]

    def _leads_on(self, node: Any, slot: int) -> bool:
        return (node, slot) == self.target or (node in self.useful and node is not self.target[0])


def _answers(node: Any, incoming: list[Any], dtype: torch.dtype | None = None) -> list[Any]:
    """What a node makes of gradients, as arrays in the shapes of its sources."""
    given = []
    for gradient, about in zip(incoming, node._input_metadata, strict=True):
        given.append(
            None
            if gradient is None
            else array_to_tensor(gradient, dtype or about.dtype, about.device)
        )
    answers: list[Any] = []
    for sent, (parent, slot) in zip(run(node, given), node.next_functions):
        if sent is None or parent is None:
            answers.append(None)
        else:
            shape = tuple(map(int, parent._input_metadata[slot].shape))
            answers.append(fitted(dense(sent), shape)[0])
    return answers


class TorchEdge(WalkedEdge):
    """One edge of PyTorch's graph."""

    def __init__(self, *, index: int, **facts: Any) -> None:
        super().__init__(**facts)
        self.index = index

    def pull(self, probes: list[Any]) -> Any:
        if ops.is_custom(self.node):  # a user's own backward runs once
            return None
        return _answers(self.node, probes)[self.index]

    def pull_opposite(self, probe: Any) -> Any:
        # A node undoes broadcasting itself, so elements stand opposite only if there was none.
        if not ops.is_elementwise(self.node) or np.shape(probe) != np.shape(self.contribution):
            return None
        return _answers(self.node, [probe])[self.index]

    def reach(self, probes: list[Any]) -> Any:
        product = _PRODUCTS.get(ops.plain_op(self.node))
        shapes = None if product is None else ops.argument_shapes(self.node)
        if product is None or shapes is None:
            return None
        with torch.enable_grad():
            factors = [torch.ones(shape, requires_grad=True) for shape in shapes]
            made = product(*factors)
            probe = array_to_tensor(probes[0], made.dtype, made.device)
            return dense(torch.autograd.grad(made, factors[self.index], probe)[0])

    def wide(self) -> Any:
        if ops.is_custom(self.node):
            return None
        try:
            answer = _answers(self.node, self.incoming, torch.float64)[self.index]
        except RuntimeError:  # a kernel that wants one dtype for everything
            return None
        return answer if answer is not None and answer.dtype == np.float64 else None

    def saved(self) -> dict[str, Any]:
        return ops.saved_in_words(self.node)
