"""Batches behind single samples: the layer that ``vmap`` switches on.

A batched tensor looks like one sample.  Its payload, a :class:`Batch`, holds the *physical* tensor
with all samples, the batch as its first dimension.  An op on batched tensors takes the highest
level off its arguments and runs the op's batching rule on what is left; what is left may be
batched at lower levels, so levels nest.

Only the physical tensors have a place in the graph, tangents and memory.  Reverse and forward mode
therefore never see a batch dimension that is not simply there, and need no rules about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from math import prod
from typing import Any, NoReturn

from whygrad.dispatch import register_layer
from whygrad.errors import describe, describe_call, fail
from whygrad.ops.batching import (
    BatchedCall,
    GenericRule,
    Refused,
    aligned,
    loop,
    repeat_over,
)
from whygrad.ops.define import Op
from whygrad.ops.namespace import recorded
from whygrad.tensor import Tensor, keys
from whygrad.threads import PerThread

__all__ = [
    "Batch",
    "add_batch",
    "batch_level",
    "carries",
    "is_of_directions",
    "level_of",
    "open_levels",
    "physical_pair",
    "remembered_levels",
    "remove_batch",
    "without_highest_level",
]


class Batch:
    """The payload of a batched tensor: geometry of a sample, data of all of them."""

    __slots__ = ("level", "tensor")

    def __init__(self, tensor: Tensor, level: int) -> None:
        self.tensor = tensor
        self.level = level

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.tensor._array.shape
        return shape[1:]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def dtype(self) -> Any:
        return self.tensor._array.dtype

    @property
    def itemsize(self) -> int:
        itemsize: int = self.tensor._array.itemsize
        return itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        strides: tuple[int, ...] = self.tensor._array.strides
        return strides[1:]

    @property
    def sample(self) -> Any:
        """The array of the first sample (of the first batch, …), for questions about memory."""
        array = self.tensor._array
        if isinstance(array, Batch):
            array = array.sample
        return array[0] if array.shape[0] else array

    @property
    def flags(self) -> Any:
        return self.sample.flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        _refuse_numbers(self, f".{name}")

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        _refuse_numbers(self, " as an array")


def _refuse_numbers(batch: Batch, what: str) -> NoReturn:
    raise fail(
        RuntimeError,
        call=f"the numbers of {describe(batch)}{what}, inside vmap",
        cause="vmap runs the function once for all samples, so a value has no single answer here: "
        "data-dependent control flow (if x > 0), item(), tolist() and numpy() cannot work",
        fix="choose per element with whygrad.where(condition, a, b), or loop over the samples "
        "instead of vmap",
    )


class _Levels(PerThread):
    def __init__(self) -> None:
        self.open: dict[int, int] = {}  # level: size of its batch
        self.of_directions: set[int] = set()  # one point for all samples, many tangents


_levels = _Levels()
_next_number = count(1).__next__  # never used twice, so an escaped tensor is always recognised


@contextmanager
def batch_level(size: int, of_directions: bool = False) -> Iterator[int]:
    """A level for batches of this size, closed on every exit.

    ``of_directions``: samples are directions at one and the same point.  Tangents are batched
    then, and values are not.
    """
    level = _next_number()
    _levels.open[level] = size
    if of_directions:
        _levels.of_directions.add(level)
    try:
        yield level
    finally:
        del _levels.open[level]
        _levels.of_directions.discard(level)


def is_of_directions(level: int) -> bool:
    """Whether values are the same for all samples of an open level."""
    return level in _levels.of_directions


def open_levels() -> tuple[tuple[int, int], ...]:
    """The levels that this thread is inside of, with the size of each batch, outermost first."""
    return tuple(_levels.open.items())


def remembered_levels() -> Callable[[], AbstractContextManager[None]]:
    """The levels that are open now, to be open again later, whether they have ended or not."""
    levels, of_directions = dict(_levels.open), set(_levels.of_directions)

    @contextmanager
    def open_again() -> Iterator[None]:
        before = _levels.open, _levels.of_directions
        _levels.open, _levels.of_directions = dict(levels), set(of_directions)
        try:
            yield
        finally:
            _levels.open, _levels.of_directions = before

    return open_again


def add_batch(tensor: Tensor, level: int) -> Tensor:
    """A tensor that looks like one sample of ``tensor``, whose first dimension is the batch."""
    batched = Tensor.__new__(Tensor)
    batched._array = Batch(tensor, level)
    batched._keys = tensor._keys & ~(keys.AUTOGRAD | keys.CUT | keys.FORWARD) | keys.BATCHED
    batched._node = None
    batched._slot = 0
    batched._base = None
    batched._storage = tensor._storage
    return batched


def remove_batch(tensor: Tensor, level: int, size: int) -> Tensor:
    """The tensor with the batch of ``level`` in front; batches of other levels stay."""
    own = level_of(tensor)
    if own == level:
        physical: Tensor = tensor._array.tensor
        return physical
    if own > level or (own and carries(tensor, level)):
        inner = remove_batch(tensor._array.tensor, level, size)
        return add_batch(recorded.transpose(inner, 0, 1), own)
    if carries(tensor, level):
        return _with_physical_tangents(tensor, level, size)
    repeated: Tensor = repeat_over(tensor, size)
    return repeated


def _with_physical_tangents(tensor: Tensor, level: int, size: int) -> Tensor:
    """The same value for every sample, with the tangents that differ per sample."""
    from whygrad.autograd.transforms.forward_ad import set_tangents, without_tangents

    repeated: Tensor = repeat_over(without_tangents(tensor), size)
    tangents = tensor._tangent.items()
    set_tangents(repeated, {key: remove_batch(each, level, size) for key, each in tangents})
    return repeated


def level_of(value: Any) -> int:
    """The highest level a value is batched at; 0 for none."""
    if isinstance(value, Tensor) and value._keys & keys.BATCHED:
        level: int = value._array.level
        return level
    return 0


def carries(value: Any, level: int) -> bool:
    """Whether a value is batched at ``level``, or one of its tangents is.

    One point can have a tangent for every sample.
    """
    if not isinstance(value, Tensor):
        return False
    if value._keys & keys.BATCHED:
        batch = value._array
        return batch.level == level or carries(batch.tensor, level)
    if value._keys & keys.FORWARD:
        return any(carries(each, level) for each in value._tangent.values())
    return False


def without_highest_level(*tensors: Tensor) -> tuple[list[Tensor], int]:
    """The physical tensors behind tensors that belong together, and the level taken off."""
    level = max(map(level_of, tensors))
    size = _size_at(level)
    return [remove_batch(each, level, size) for each in tensors], level


def physical_pair(target: Tensor, source: Tensor, name: str) -> tuple[Tensor, Tensor]:
    """What a write of ``source`` into ``target`` is one level down."""
    level = level_of(target)
    if level_of(source) > level:
        raise fail(
            RuntimeError,
            call=f"{name} on {describe(target)}, inside vmap",
            cause="vmap: inplace arithmetic is not possible because the written value has more "
            "elements than the target: the value differs per sample, while the target is one "
            "tensor that all samples share",
            fix="use the out-of-place form, or make the target from a batched tensor, for example "
            "with zeros_like(x) or x.new_zeros(shape)",
        )
    return target._array.tensor, remove_batch(source, level, _size_at(level))


def _size_at(level: int) -> int:
    try:
        return _levels.open[level]
    except KeyError:
        raise fail(
            RuntimeError,
            call="an op on a tensor that was batched by vmap",
            cause="a tensor has escaped from inside a function being vmapped: its vmap has ended",
            fix="return what you need from the function instead of keeping it outside",
        ) from None


def _layer(op: Op, bits: int) -> Callable[..., Any]:
    count = len(op.tensor_names)
    run = _rule_of(op)

    def over_batch(*args: Any) -> Any:
        tensors = list(args[0]) if op.variadic else list(args[:count])
        level = max(map(level_of, tensors))
        size = _size_at(level)
        batched = tuple([carries(each, level) for each in tensors])
        physical = [
            remove_batch(each, level, size) if here else each
            for each, here in zip(tensors, batched, strict=True)
        ]
        try:
            result = run(BatchedCall(op, physical, batched, size, args[count:]))
        except Refused as refusal:
            cause, fix = refusal.args
            raise fail(
                RuntimeError, call=_call_on_samples(op, args), cause=cause, fix=fix
            ) from None
        except Exception as error:  # it speaks of the whole batch; say what a sample looked like
            error.add_note(_call_on_samples(op, args))
            raise
        if isinstance(result, tuple):
            return tuple([add_batch(each, level) for each in result])
        return add_batch(result, level)

    return over_batch


def _rule_of(op: Op) -> Callable[[BatchedCall], Any]:
    if isinstance(op.batching, GenericRule):
        return op.batching.run
    if op.batching is not None:
        return _own_rule(op, op.batching)
    return aligned.run if op.kind == "elementwise" else loop.run


def _own_rule(op: Op, rule: Callable[..., Any]) -> Callable[[BatchedCall], Any]:
    """Hand a rule what it asks for by name."""
    code = rule.__code__
    wanted = code.co_varnames[1 : code.co_argcount]
    names = (*op.tensor_names, *op.param_names)

    def run(call: BatchedCall) -> Any:
        tensors = call.tensors if "batched" in wanted else call.lifted()
        operands = [tensors] if op.variadic else tensors
        known = dict(zip(names, (*operands, *call.params), strict=True))
        known.update(batch=call.size, batched=call.batched)
        return rule(recorded, *[known[name] for name in wanted])

    return run


def _call_on_samples(op: Op, args: tuple[Any, ...]) -> str:
    return f"{describe_call(op.name, (*op.tensor_names, *op.param_names), args)}, inside vmap"


register_layer(keys.BATCHED, _layer)
