"""What to call PyTorch's tensors: as :mod:`whygrad.why.names` does, plus what PyTorch knows.

A tensor on the way is known by its place in the graph, so the variable that holds it names it.
"""

from __future__ import annotations

from types import FrameType
from typing import Any

import torch

from whygrad.torch.graph import event_of, is_leaf, where_of
from whygrad.torch.ops import op_name
from whygrad.why.names import Names, expression_at

__all__ = ["TorchNames"]


class TorchNames(Names):
    """The variables of one frame, and the tensors of PyTorch's graph they hold."""

    def __init__(self, frame: FrameType | None = None) -> None:
        self._by_place: dict[tuple[Any, int], torch.Tensor] = {}
        super().__init__(frame)

    def _enter(self, name: str, thing: Any) -> None:
        super()._enter(name, thing)
        if isinstance(thing, torch.Tensor) and thing.grad_fn is not None:
            self._by_place.setdefault((thing.grad_fn, thing.output_nr), thing)
        if isinstance(thing, torch.nn.Module):
            for member, held in (*thing.named_parameters(), *vars(thing).items()):
                if isinstance(held, torch.Tensor):
                    self._enter(f"{name}.{member}", held)

    def tensor_at(self, node: Any, slot: int) -> torch.Tensor | None:
        """The tensor at a place of the graph, if it is a leaf, a variable's or still recorded."""
        if is_leaf(node):
            return node.variable
        held = self._by_place.get((node, slot))
        event = event_of(node)
        if held is None and event is not None:
            for track in event.outputs:
                thing = track.thing
                if isinstance(thing, torch.Tensor) and thing.grad_fn is node:
                    return thing if thing.output_nr == slot else None
        return held

    def of_place(self, node: Any, slot: int) -> str:
        """A name for output ``slot`` of ``node``; for a leaf's node, the leaf."""
        held = self.tensor_at(node, slot)
        known = None if held is None else self.of(held)
        if known is not None:
            return known
        if is_leaf(node):
            return "a leaf"
        return self.of_op_at(node)

    def of_op_at(self, node: Any) -> str:
        """The expression that made a node, or the name of its op."""
        return expression_at(where_of(node)) or op_name(node)

    def of_torch(self, tensor: torch.Tensor) -> str:
        """A name for a tensor, whether it has a history or not."""
        known = self.of(tensor)
        if known is not None:
            return known
        if tensor.grad_fn is None:
            return "a tensor"
        return self.of_place(tensor.grad_fn, tensor.output_nr)
