"""Batching rules: how one op call serves a whole batch of samples.

Inside ``vmap`` a function sees one sample; the tensors behind it hold all of them, with the batch
as their first dimension.  A batching rule turns a call on samples into calls on those *physical*
tensors.  Elementwise ops need none: aligned dimensions are all they ask for.  Ops that take
dimensions as parameters declare ``batching=shift_dims("dim")``, ops that treat leading dimensions
as a batch already declare ``batching=leading_dims``.  What remains is written as a function of
the physical tensors and the parameters, by name as in other rules, or left to the loop over the
samples, which is always right and only slow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from whygrad.ops.namespace import recorded
from whygrad.tensor import keys

if TYPE_CHECKING:
    from whygrad.ops.define import Op

__all__ = [
    "BatchedCall",
    "GenericRule",
    "Refused",
    "align",
    "aligned",
    "all_numbers",
    "dynamic_shape",
    "leading_dims",
    "loop",
    "only",
    "refuse",
    "repeat_over",
    "shift",
    "shift_dims",
]

Array = Any


class BatchedCall:
    """A call of an op in which some tensors carry a batch, as their first dimension."""

    __slots__ = ("batched", "op", "params", "size", "tensors")

    def __init__(
        self,
        op: Op,
        tensors: list[Any],  # physical tensors, numbers, or None
        batched: tuple[bool, ...],  # which of them carry the batch
        size: int,  # of the batch
        params: tuple[Any, ...],
    ) -> None:
        self.op = op
        self.tensors = tensors
        self.batched = batched
        self.size = size
        self.params = params

    @property
    def ranks(self) -> list[int]:
        """The number of dimensions that a sample of each tensor has; 0 for numbers and None."""
        return [
            getattr(each, "ndim", 0) - carries
            for each, carries in zip(self.tensors, self.batched, strict=True)
        ]

    def lifted(self) -> list[Any]:
        """All tensors with the batch in front; those without one show the same for every sample."""
        return [
            each if carries or not hasattr(each, "ndim") else repeat_over(each, self.size)
            for each, carries in zip(self.tensors, self.batched, strict=True)
        ]

    def run(self, tensors: Sequence[Any], params: Sequence[Any]) -> Any:
        if self.op.variadic:
            return self.op.call(list(tensors), *params)
        return self.op.call(*tensors, *params)


class GenericRule:
    """A rule that fits many ops, and what ``whygrad ops NAME`` says about it."""

    def __init__(self, words: str, run: Callable[[BatchedCall], Any]) -> None:
        self.words = words
        self.run = run


def all_numbers(tensor: Any) -> Array:
    """The array with the numbers of all samples, for checks that hold for all or for none."""
    while tensor._keys & keys.BATCHED:
        tensor = tensor._array.tensor
    return tensor._array


def repeat_over(tensor: Array, size: int) -> Array:
    """The same sample ``size`` times, as a view."""
    return recorded.expand(tensor, (size, *tensor.shape))


def align(tensor: Array, rank: int) -> Array:
    """Insert dimensions of size 1 after the batch until a sample has ``rank`` dimensions."""
    missing = rank + 1 - tensor.ndim
    if missing <= 0:
        return tensor
    return recorded.view(tensor, (tensor.shape[0], *(1,) * missing, *tensor.shape[1:]))


def shift(dim: Any) -> Any:
    """A dimension of a sample (or several) as dimensions of the physical tensor."""
    if isinstance(dim, (tuple, list)):
        return tuple(shift(each) for each in dim)
    return dim + 1 if dim >= 0 else dim


def _on_aligned_dims(call: BatchedCall) -> Any:
    rank = max(call.ranks)
    tensors = [
        align(each, rank) if carries else each
        for each, carries in zip(call.tensors, call.batched, strict=True)
    ]
    return call.run(tensors, call.params)


def _loop(call: BatchedCall) -> Any:
    if not call.size:
        raise Refused(
            f"the batch has no samples, and {call.op.name} runs sample by sample",
            "skip empty batches",
        )
    results = []
    for number in range(call.size):
        sample = [
            recorded.slice(each, (number,)) if carries else each
            for each, carries in zip(call.tensors, call.batched, strict=True)
        ]
        results.append(call.run(sample, call.params))
    if isinstance(results[0], tuple):
        return tuple(recorded.stack(list(each), 0) for each in zip(*results, strict=True))
    return recorded.stack(results, 0)


class Refused(Exception):
    """An op that cannot serve a batch; its arguments are the cause and the fix."""


def refuse(cause: str, fix: str) -> GenericRule:
    """No batch of such results can exist."""

    def run(call: BatchedCall) -> Any:
        raise Refused(cause, fix)

    return GenericRule(f"refused: {cause}", run)


def _on_leading_dims(call: BatchedCall) -> Any:
    return call.run(call.lifted(), call.params)


aligned = GenericRule("the op itself, dimensions aligned", _on_aligned_dims)
dynamic_shape = refuse(
    "vmap does not support operators that can output dynamic shape: the shape of the result "
    "depends on the data, so it may differ from sample to sample",
    "keep all elements and mark the unwanted ones: whygrad.where(condition, x, 0)",
)
leading_dims = GenericRule("the op itself: leading dimensions are a batch", _on_leading_dims)
loop = GenericRule("one call per sample", _loop)


def shift_dims(*names: str) -> GenericRule:
    """The op itself, with the dimensions that these parameters name moved on by one.

    A sample without dimensions accepts dimension 0 or −1 in PyTorch; it gets one for the call.
    """

    def run(call: BatchedCall) -> Any:
        places = [call.op.param_names.index(name) for name in names]
        ranks = {rank for rank, each in zip(call.ranks, call.tensors) if hasattr(each, "ndim")}
        if len(ranks) > 1:
            return _loop(call)
        tensors, params = call.lifted(), list(call.params)
        if ranks == {0} and any(params[place] != () for place in places):
            for place in places:
                params[place] = (1,) if isinstance(params[place], tuple) else 1
            deeper = [align(each, 1) if hasattr(each, "ndim") else each for each in tensors]
            return _without_dim(call.run(deeper, params))
        for place in places:
            params[place] = shift(params[place])
        return call.run(tensors, params)

    return GenericRule(f"the op itself, {' and '.join(names)} moved on by one", run)


def only(name: str, rule: Callable[..., Any]) -> GenericRule:
    """``rule(xp, tensors…, parameters…)`` if no other tensor carries the batch, else the loop."""

    def run(call: BatchedCall) -> Any:
        carriers = [each for each, carries in zip(call.op.tensor_names, call.batched) if carries]
        if carriers != [name]:
            return _loop(call)
        return rule(recorded, *call.tensors, *call.params)

    return GenericRule(f"its own if only {name} is batched, else one call per sample", run)


def _without_dim(result: Any) -> Any:
    """Take back the dimension that a sample without dimensions was given."""
    if isinstance(result, tuple):
        return tuple(map(_without_dim, result))
    return recorded.squeeze(result, (1,)) if result.ndim > 1 else result
