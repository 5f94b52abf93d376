"""Runs of functions under a transform, and what they may write to.

What a function being differentiated by :mod:`whygrad.func` computes belongs to that run alone.  A
derivative written into a tensor from outside would leave it with a history that ends with the run,
so such a write is refused.  Constants may be written: a function may count its calls.

Memory made inside is marked as it is made; that costs something inside a run only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from whygrad.errors import describe, fail
from whygrad.tensor import modes
from whygrad.tensor.graph.node import next_order
from whygrad.tensor.storage import DataStorage, new_storage

if TYPE_CHECKING:
    from whygrad.tensor import Tensor

__all__ = ["Run", "check_captured"]


class Run:
    """One call of a transformed function."""

    __slots__ = ("begin", "level")

    def __init__(self, level: int | None = None) -> None:
        self.begin = next_order()  # nodes recorded inside have a lower order
        self.level = level  # of forward mode; None for reverse mode

    def made(self, tensor: Tensor) -> None:
        """``tensor`` has new memory, made inside (or shares some, and will be told so)."""
        tensor._storage = new_storage(tensor._array)

    def note(self, tensor: Tensor) -> None:
        """Another tensor will have the memory of ``tensor``, without its place in the graph."""
        if self._recorded(tensor):
            tensor._storage.made_in = self.begin

    def varies(self, tensor: Tensor) -> bool:
        """Whether a value depends on the arguments of the run."""
        if self.level is not None:
            return self.level in (tensor._tangent or ())
        return self._recorded(tensor)

    def owns(self, tensor: Tensor) -> bool:
        """Whether the memory of a tensor came to be inside."""
        whole = tensor if tensor._base is None else tensor._base
        storage = whole._storage
        if isinstance(storage, DataStorage):
            storage = storage.origin
        inside = getattr(storage, "made_in", 1) <= self.begin
        return inside or any(self._recorded(each) or self.varies(each) for each in (whole, tensor))

    def _recorded(self, tensor: Tensor) -> bool:
        return tensor._node is not None and tensor._node.order < self.begin


def check_captured(target: Tensor, source: Tensor, name: str) -> None:
    """Raise if ``source`` belongs to the innermost run and ``target`` does not."""
    run: Any = modes.state.run
    if run.varies(source) and not run.owns(target):
        raise fail(
            RuntimeError,
            call=f"{name} on {describe(target)} inside a function that whygrad.func transforms",
            cause="it would mutate a captured tensor: it was made outside, and what is written "
            "depends on the arguments, so its history would end with this call",
            fix="return the value (has_aux=True takes more than one result), pass the tensor as "
            "an argument, or write value.detach()",
        )
