"""One run of a function, recorded from fresh inputs, to be pulled back as often as one likes.

The function gets *twins* of its inputs: the same memory, a new place in the graph.  A gradient with
respect to a twin belongs to this run alone, so transforms nest without mistaking one derivative for
another, and nothing the function does moves the caller's tensors.  A twin leads on to the caller's
tensor if that one is part of a graph: then the result can be differentiated further.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from whygrad.autograd import api
from whygrad.autograd.transforms.batching import (
    add_batch,
    is_of_directions,
    open_levels,
    without_highest_level,
)
from whygrad.autograd.transforms.forward_ad import set_tangents
from whygrad.autograd.transforms.lifting import Levels, levels_of, lower, raised
from whygrad.autograd.transforms.runs import Run
from whygrad.errors import describe, fail
from whygrad.ops.namespace import recorded
from whygrad.tensor import Tensor, alias, keys, modes, wrap
from whygrad.tensor.graph import lineage
from whygrad.tensor.graph.node import AccumulateGrad, Node
from whygrad.trees import flatten

__all__ = ["Tape", "Transposed"]


class Tape:
    """Twins of some tensors, and what was computed from them."""

    def __init__(
        self,
        tensors: Sequence[Tensor],
        *,
        outside: bool = True,
        within: Tape | None = None,
        guarded: bool = True,
    ) -> None:
        """``outside``: whether results may lead on to what the caller's tensors came from.

        ``within``: another tape whose twins are no more outside than those of this one.
        ``guarded``: whether what is captured must not become part of this run.
        """
        self.levels = _levels_for(tensors)
        self.outside = outside and modes.state.grad and not modes.state.inference
        self._run = Run() if guarded else modes.state.run
        self._twins = [_twin(lower(each, self.levels), self.outside) for each in tensors]
        self._own = {twin._node for twin in self._twins}
        if within is not None:
            self._own |= within._own
        self.inputs = [raised(twin, self.levels) for twin in self._twins]

    def run(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call ``function`` and record what it does, whatever mode the caller is in."""
        with modes.inference_mode(False), modes.inside(self._run):
            return function(*args, **kwargs)

    def pull(
        self,
        outputs: Sequence[Tensor],
        cotangents: Sequence[Tensor],
        *,
        retain_graph: bool = True,
        create_graph: bool | None = None,
    ) -> list[Tensor | None]:
        """The gradient of each input; None where the outputs do not depend on it.

        ``create_graph`` None: if somebody outside could differentiate the result.
        """
        roots = [lower(each, self.levels) for each in outputs]
        for root in roots:
            _check_shared(root)
        sent = [
            (root, lower(each, self.levels))
            for root, each in zip(roots, cotangents, strict=True)
            if root._node is not None
        ]
        if not sent or not self._twins:
            return [None] * len(self._twins)
        if create_graph is None:
            create_graph = self.outside and modes.state.grad and self.leads_outside(chain(*sent))
        gradients = api.grad(
            [root for root, _ in sent],
            self._twins,
            [each for _, each in sent],
            retain_graph=retain_graph or create_graph,
            create_graph=create_graph,
            allow_unused=True,
        )
        return [None if each is None else raised(each, self.levels) for each in gradients]

    def pull_or_zeros(self, *args: Any, **options: Any) -> list[Tensor]:
        """``pull`` for the caller, with zeros for inputs that do not matter."""
        return [
            recorded.zeros_like(twin) if each is None else self.released(each)
            for each, twin in zip(self.pull(*args, **options), self.inputs, strict=True)
        ]

    def has_recorded(self, tensor: Tensor) -> bool:
        """Whether a tensor was computed from something that requires grad."""
        return lower(tensor, self.levels)._node is not None

    def released(self, result: Any) -> Any:
        """What the caller gets of a (nested) result: no longer tied to the twins."""
        leaves, tree = flatten(result)
        return tree.build([self._released(leaf) for leaf in leaves])

    def _released(self, value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        if value._keys & keys.BATCHED:
            return add_batch(self._released(value._array.tensor), value._array.level)
        if value._node is None and value._tangent is None:
            return value
        free = _without_place(value)
        if value._tangent is not None:
            set_tangents(
                free, {level: self._released(each) for level, each in value._tangent.items()}
            )
        if self.outside and self._reaches_outside([value._node]):
            free._enter_graph(value._node, value._slot)
        elif any(map(lineage.is_known, self._twins)):
            lineage.cut(value, free, "no_grad", "func")
        return free

    def leads_outside(self, tensors: Iterable[Tensor]) -> bool:
        """Whether a tensor, or a tangent of it, was computed from something besides the twins."""
        nodes: list[Node] = []
        waiting = list(tensors)
        while waiting:
            tensor = waiting.pop()
            if tensor._keys & keys.BATCHED:
                waiting.append(tensor._array.tensor)
            elif tensor._node is not None:
                nodes.append(tensor._node)
            waiting.extend((tensor._tangent or {}).values())
        return self._reaches_outside(nodes)

    def _reaches_outside(self, nodes: Iterable[Node | None]) -> bool:
        own = self._own
        seen: set[Node | None] = set()
        stack = list(nodes)
        while stack:
            node = stack.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            if node.plan is None and node not in own and not _is_left_over(node):
                return True
            stack.extend(node.parents)
        return False


def _levels_for(tensors: Sequence[Tensor]) -> Levels:
    """The levels at which each sample has a gradient of its own.

    Where samples are directions, all of them stand at one point and share its gradient; only what
    is pushed along differs.
    """
    batched = {level for each in tensors for level, _ in levels_of(each)}
    return tuple(
        (level, size)
        for level, size in open_levels()
        if level in batched or not is_of_directions(level)
    )


def _check_shared(root: Tensor) -> None:
    if any(is_of_directions(level) for level, _ in levels_of(root)):
        raise fail(
            RuntimeError,
            call=f"the gradient of {describe(root)}, inside jacfwd or hessian",
            cause="the value differs from direction to direction, but its gradient is asked at a "
            "point that all directions share",
            fix="compute with the argument of the function, not with its tangents",
        )


class Transposed:
    """The way forward, from the way back.

    What is pulled back is linear in the cotangents, so pulling back through *that* pushes forward:
    it needs neither another run of the function nor a forward rule of any op.
    """

    def __init__(self, tape: Tape, outputs: Sequence[Tensor]) -> None:
        zeros = [recorded.zeros_like(each) for each in outputs]
        self._tape = Tape(zeros, outside=tape.outside, within=tape)
        self.pulled = self._tape.run(tape.pull, outputs, self._tape.inputs, create_graph=True)

    def push(self, tangents: Sequence[Tensor], create_graph: bool | None = None) -> list[Tensor]:
        """The derivative of each output along one tangent per input."""
        reached = [
            (each, tangent)
            for each, tangent in zip(self.pulled, tangents, strict=True)
            if each is not None
        ]
        return self._tape.pull_or_zeros(
            [each for each, _ in reached],
            [tangent for _, tangent in reached],
            create_graph=create_graph,
        )


class _Beginning(AccumulateGrad):
    """The place of a twin that leads nowhere."""

    __slots__ = ()


def _is_left_over(node: Node) -> bool:
    """Whether it is the beginning of a run that has ended: nobody can ask for its gradient."""
    return isinstance(node, _Beginning) and node.variable is None


def _twin(tensor: Tensor, connected: bool) -> Tensor:
    if tensor._keys & keys.BATCHED:
        without_highest_level(tensor)  # raises: the vmap it belongs to has ended
    twin = _without_place(tensor)
    if connected and tensor._node is not None:
        source = _without_place(tensor)
        source._enter_graph(tensor._node, tensor._slot)
        step = (
            source.clone() if tensor._keys & keys.LAYOUTS else recorded.view(source, tensor.shape)
        )
        twin._enter_graph(step._node, step._slot)
        if isinstance(twin._array, np.ndarray):  # a write would change the caller's tensor
            twin._array = twin._array.view()
            twin._array.flags.writeable = False
    else:
        twin._enter_graph(_Beginning(twin))
        lineage.cut(tensor, twin, "no_grad", "func")
    if tensor._tangent is not None:
        set_tangents(twin, tensor._tangent)
    return twin


def _without_place(tensor: Tensor) -> Tensor:
    """The same memory, outside every graph; for an inference tensor, memory that has versions."""
    return wrap(tensor._array) if tensor.is_inference() else alias(tensor)
