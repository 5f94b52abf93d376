"""One gradient that is not finite, taken apart: what came in, what the rule made of it."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from whygrad.autograd.anomaly_mode import finite, selection
from whygrad.autograd.anomaly_mode.examination import Place, bad_elements, fits, found
from whygrad.autograd.anomaly_mode.findings import Finding, Memo, Trail, trail_of
from whygrad.autograd.fitting import widen
from whygrad.ops.namespace import raw
from whygrad.tensor import Tensor
from whygrad.tensor.graph.node import Node

__all__ = ["Evidence", "Running", "memo_of"]


class Running(NamedTuple):
    """The node whose turn it is, with what its rules get."""

    node: Node
    incoming: Any
    values: tuple[Any, ...]


def memo_of(node: Node) -> Memo | None:
    """What anomaly mode remembers of the forward call."""
    return None if node._extras is None else node._extras.memo


class Evidence:
    """The gradient a node sent along one edge, and what it was computed from.

    ``gradient`` is what the rule returned, before a broadcast was undone, where that can be had;
    then its elements stand opposite those of the incoming gradient and of the saved values.
    """

    def __init__(
        self,
        running: Running,
        edge: tuple[Node, int],
        sent: Any,
        roots: Sequence[Node],
        conditions: dict[Node, Any],
    ) -> None:
        self.node = node = running.node
        self.plan = node.plan
        self.roots = roots
        self.conditions = conditions
        every = running.incoming if isinstance(running.incoming, list) else [running.incoming]
        self.arrived = [finite.numbers(each) for each in every if each is not None]
        self.incoming = self.arrived[0] if node.outputs is None else None
        self.values = tuple(
            finite.numbers(each) if isinstance(each, Tensor) else each for each in running.values
        )
        self.saved = {
            name: each
            for name, each in zip(self.plan.saved_names, self.values, strict=True)
            if type(each) is np.ndarray or type(each) in (int, float)
        }
        self.index, returned = self._edge(edge)
        # Undoing a broadcast and rounding to half precision can overflow, too.
        self.overflowed = returned is not None and finite.trouble(returned) is None
        self.gradient = sent if returned is None or self.overflowed else returned
        self.kind: finite.Trouble = finite.trouble(self.gradient) or "nan"
        self.bad = bad_elements(self.gradient, self.kind)
        self.fed_by = None if self.overflowed else self._fed_by()

    def _edge(self, edge: tuple[Node, int]) -> tuple[int, Any]:
        """Which of the node's edges it was, and what the rule returned for it.

        A tensor that is used twice, as in ``x / x``, has two edges to the same place.
        """
        node = self.node
        edges = enumerate(zip(node.parents, node.slots, strict=True))
        answers = [
            (index, self._returned(index, self.incoming)) for index, each in edges if each == edge
        ]
        bad = [each for each in answers if each[1] is not None and finite.trouble(each[1])]
        return (bad or answers)[0]

    def _returned(self, index: int, incoming: Any, values: tuple[Any, ...] | None = None) -> Any:
        """What an elementwise rule answers, asked once more; None for other rules."""
        plan = self.plan
        if plan.op.kind != "elementwise" or plan.joint is not None or incoming is None:
            return None
        rule, pick = plan.rules[index]
        chosen = self.values if values is None else values
        if plan.in_float32:
            incoming, chosen = widen(incoming), widen(chosen)
        return np.asarray(rule(raw, incoming, *(chosen if pick is None else pick(chosen))))

    def _fed_by(self) -> Literal["incoming", "saved"] | None:
        """Whether bad numbers came in: with the gradient, or with a saved value."""
        saved = [each for each in self.saved.values() if type(each) is np.ndarray]
        if self.plan.op.kind != "elementwise" or not self._fit(self.incoming):
            if any(finite.trouble(each) for each in self.arrived):
                return "incoming"
            return "saved" if any(finite.trouble(each) for each in saved) else None
        came_clean = np.isfinite(self._whole(self.incoming))
        all_clean = came_clean.copy()
        for each in saved:
            if self._fit(each):
                all_clean &= np.isfinite(self._whole(each))
        if (self.bad & all_clean).any():
            self.bad = self.bad & all_clean
            return None
        if (self.bad & came_clean).any():
            self.bad = self.bad & came_clean
            return "saved"
        return "incoming"

    def _fit(self, value: Any) -> bool:
        return value is not None and fits(np.asarray(value), self.gradient.shape)

    def _whole(self, array: Any) -> Any:
        return np.broadcast_to(array, self.gradient.shape)

    def trails_of_saved(self) -> list[Trail]:
        """Where the saved values that are not finite come from."""
        if self.fed_by != "saved":
            return []
        found = [trail_of(each) for each in self.saved.values()]
        return [trail for trail in found if trail is not None]

    def replaced(self) -> Finding:
        """The gradient was finite when it was sent here: a hook must have changed it."""
        writer = f"a hook on what arrives for {self.node.name()}"
        return found(self.gradient, self.kind, self.bad, where=self.node.where, writer=writer)

    def finding(self) -> Finding:
        node, memo = self.node, memo_of(self.node)
        finding = found(
            self.gradient,
            self.kind,
            self.bad,
            op=self.plan.op,
            inputs={name: each for name, each in self.saved.items() if self._fit(each)},
            incoming=self.incoming if self._fit(self.incoming) else None,
            slopes=self._slopes,
            where=node.where,
            calls=[] if memo is None else memo.calls,
            during=None if memo is None else memo.during,
            backward=True,
            position=self.plan.positions[self.index],
            fed=None if self.fed_by is None else "inf",
            overflowed=self.overflowed,
            node_reference=weakref.ref(node),
        )
        first = finding.elements[0]
        if self.overflowed or first.incoming != 0:
            return finding
        shape = self.gradient.shape
        dropped = selection.of(node, first.index, shape, self.roots, self.conditions)
        return replace(finding, selection=dropped)

    def _slopes(self, places: list[Place]) -> Any:
        """The local derivatives: what the rule answers to an incoming gradient of 1."""
        if self.overflowed or not all(self._fit(each) for each in self.saved.values()):
            return None
        values = tuple(
            np.array([self._whole(each)[place] for place in places])
            if type(each) is np.ndarray
            else each
            for each in self.values
        )
        ones = np.ones(len(places), self.gradient.dtype)
        slopes = self._returned(self.index, ones, values)
        return None if slopes is None else np.broadcast_to(slopes, ones.shape)
