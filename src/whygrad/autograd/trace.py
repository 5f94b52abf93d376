"""A backward pass, written down step by step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from whygrad.autograd.api import root_gradients
from whygrad.autograd.engine import Walk
from whygrad.dispatch import quiet
from whygrad.ops.namespace import raw
from whygrad.source import caller
from whygrad.tensor import Tensor
from whygrad.tensor.graph.node import Node

__all__ = ["Contribution", "Step", "trace_backward"]


@dataclass
class Contribution:
    """What one node sent back along one edge."""

    target: Node
    slot: int
    gradient: Any


@dataclass
class Step:
    """One node of the reverse walk: what had arrived, and what it passed on."""

    node: Node
    incoming: Any
    contributions: list[Contribution] = field(default_factory=list)


class _RecordingWalk(Walk):
    def __init__(self) -> None:
        super().__init__(keep_graph=True, create_graph=False, where=caller(), xp=raw, targets=None)
        self.steps: list[Step] = []
        self.careful = True

    def run_rules(self, node: Node, incoming: Any, values: tuple[Any, ...]) -> None:
        self.steps.append(Step(node, incoming))
        super().run_rules(node, incoming, values)

    def send(self, node: Node, slot: int, gradient: Any, source: Any) -> None:
        if self.steps:
            self.steps[-1].contributions.append(Contribution(node, slot, np.array(gradient)))
        super().send(node, slot, gradient, source)


def trace_backward(root: Tensor, gradient: Tensor | None = None) -> list[Step]:
    """Walk back from ``root`` and report every step; no ``.grad`` changes, nothing is freed."""
    (seed,) = root_gradients("trace_backward", [root], [gradient])
    walk = _RecordingWalk()
    walk.send(root._node, root._slot, seed._array, seed._array)
    quiet.run(walk.run)
    return walk.steps
