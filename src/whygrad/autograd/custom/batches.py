"""A custom function inside ``vmap``.

Either the class says itself how it works on a whole batch (its ``vmap`` method), or, with
``generate_vmap_rule``, its methods run on samples.  The second is a function again, one of the
physical tensors: its methods open a batch level and call the user's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from whygrad.autograd.custom import answers
from whygrad.autograd.custom.answers import Kind
from whygrad.autograd.custom.context import FunctionCtx
from whygrad.autograd.custom.signature import Signature
from whygrad.autograd.custom.varying import is_varying
from whygrad.autograd.transforms.batching import (
    add_batch,
    batch_level,
    carries,
    level_of,
    open_levels,
    remove_batch,
    without_highest_level,
)
from whygrad.autograd.transforms.randomness import mode_of, randomness_of
from whygrad.errors import fail
from whygrad.ops.namespace import recorded
from whygrad.ops.shape.axes import movedim
from whygrad.tensor import Tensor
from whygrad.trees import broadcast_prefix, flatten

if TYPE_CHECKING:
    from whygrad.autograd.custom.call import FunctionCall

__all__ = ["VmapInfo", "over_batch"]


class VmapInfo(NamedTuple):
    """What a function's own ``vmap`` is told about the batch."""

    batch_size: int
    randomness: str


def over_batch(call: FunctionCall) -> Any:
    """Run a call with batched tensors: take the highest level off and go on."""
    from whygrad.autograd.custom.call import FunctionCall

    signature = call.signature
    level = max(map(level_of, call.tensors))
    sizes = dict(open_levels())
    if level not in sizes:
        without_highest_level(*call.tensors)  # raises: the vmap it belongs to has ended
    info = VmapInfo(sizes[level], mode_of(level))
    batched = [carries(arg, level) for arg in call.args]
    args = tuple(
        remove_batch(arg, level, info.batch_size) if here else arg
        for arg, here in zip(call.args, batched, strict=True)
    )
    if (signature.vmap is None) is not signature.runs_on_samples:
        raise _no_rule(call)
    if signature.vmap is not None:
        return _own_rule(call, info, level, args, batched)
    samples = _OnSamples(call, info, level, batched)
    positional = len(args) - len(call.keywords)
    named = dict(zip(call.keywords, args[positional:], strict=True))
    made = FunctionCall(samples, args[:positional], named).run()
    outputs = made if isinstance(made, tuple) else (made,)
    back = {id(inner): outer for inner, outer in zip(args, call.args, strict=True)}
    wrapped = tuple(
        _sample(each, 0 if here else None, level, back)
        for each, here in zip(outputs, samples.returns, strict=True)
    )
    return wrapped if isinstance(made, tuple) else wrapped[0]


def _without(value: Any, level: int) -> Any:
    return value._array.tensor if level_of(value) == level else value


class _OnSamples(Signature):
    """A function of physical tensors that runs another one on their samples."""

    vmap = None
    runs_on_samples = True
    inner: FunctionCtx  # of the user's function
    holds: list[bool]  # whether each tensor on it is a batch
    returns: list[bool]  # whether each output is

    def __init__(self, call: FunctionCall, info: VmapInfo, level: int, batched: list[bool]) -> None:
        self.of = call.signature
        self.name = f"Vmapped{self.of.name}"
        self.about = self.of.about
        self.parameters = self.of.parameters
        self.forward = self.of.forward
        self.info = info
        self.level = level
        self.batched = batched
        self.keywords = call.keywords
        self.argument_names = call.names
        self.where = call.where
        self.kinds = [Kind.of(arg) if isinstance(arg, Tensor) else None for arg in call.args]
        self._names = {}
        self._ops = {}

    @property
    def backward(self) -> Callable[..., Any] | None:
        return None if self.of.backward is None else self._pull

    @property
    def jvp(self) -> Callable[..., Any] | None:  # type: ignore[override]
        return None if self.of.jvp is None else self._push

    def bind(self, args: Any, kwargs: Any) -> Any:
        return args, kwargs

    def check_backward(self, where: Any) -> None:
        self.of.check_backward(where)

    def run(self, ctx: FunctionCtx, args: Sequence[Any], keywords: tuple[str, ...]) -> Any:
        level = self.level
        samples = [
            add_batch(arg, level) if here else arg
            for arg, here in zip(args, self.batched, strict=True)
        ]
        inner = self.inner = FunctionCtx(ctx.needs_input_grad)
        inner._writable = lambda tensor: _check_writable(ctx, _without(tensor, level))
        try:
            output = self.of.run(inner, samples, keywords)
        finally:
            inner._writable = None
        outputs = output if isinstance(output, tuple) else (output,)
        ctx.mark_dirty(*[_without(each, level) for each in inner._dirty])
        ctx.mark_non_differentiable(*[_without(each, level) for each in inner._non_differentiable])
        ctx.set_materialize_grads(inner.materialize_grads)
        known = {id(each) for each in (*samples, *outputs) if isinstance(each, Tensor)}
        held = [
            each.tensor
            for each in inner.take_out(
                lambda tensor: id(tensor) in known or level_of(tensor) > 0 or is_varying(tensor)
            )
        ]
        self.holds = [level_of(each) == level for each in held]
        inside = [_without(each, level) for each in held]
        ctx.save_for_backward(*inside)
        ctx.save_for_forward(*inside)
        self.returns = [self._differs(each, samples) for each in outputs]
        made = tuple(
            remove_batch(each, level, self.info.batch_size) if here else each
            for each, here in zip(outputs, self.returns, strict=True)
        )
        return made if isinstance(output, tuple) else made[0]

    def _differs(self, output: Any, samples: list[Any]) -> bool:
        """Whether an output is to be a batch.

        What has a gradient always is: then each sample has a gradient of its own, and none is
        counted twice.
        """
        if level_of(output) == self.level:
            return True
        is_argument = any(output is each for each in samples)
        return isinstance(output, Tensor) and output.dtype.is_differentiable and not is_argument

    def _pull(self, ctx: FunctionCtx, *incoming: Any) -> tuple[Any, ...]:
        """The user's ``backward`` on samples."""
        with self._open_level() as level:
            returned = self.of.backward(  # type: ignore[misc]
                self._shown(ctx, level), *_samples(incoming, self.returns, level)
            )
            found = answers.gradients(
                self.of,
                self.argument_names,
                self.kinds,
                ctx.needs_input_grad,
                returned,
                self.where,
            )
            return tuple(
                None
                if gradient is None or kind is None
                else self._together(_summed(gradient, kind.shape), here, level)
                for gradient, kind, here in zip(found, self.kinds, self.batched, strict=True)
            )

    def _together(self, gradient: Tensor, is_batch: bool, level: int) -> Tensor:
        """The gradient of a physical argument: side by side, or added up if samples share it."""
        physical = remove_batch(gradient, level, self.info.batch_size)
        return physical if is_batch else recorded.sum(physical, (0,), False)

    def _push(self, ctx: FunctionCtx, *tangents: Any) -> tuple[Any, ...]:
        """The user's ``jvp`` on samples."""
        size = self.info.batch_size
        with self._open_level() as level:
            returned = self.of.jvp(  # type: ignore[misc]
                self._shown(ctx, level), *_samples(tangents, self.batched, level)
            )
            found = returned if isinstance(returned, tuple) else (returned,)
            pairs = zip(found, [*self.returns, *[False] * len(found)])
            return tuple(
                remove_batch(each, level, size) if here and isinstance(each, Tensor) else each
                for each, here in pairs
            )

    def _shown(self, ctx: FunctionCtx, level: int) -> FunctionCtx:
        return self.inner.showing(
            _samples(ctx.saved_tensors, self.holds, level), in_jvp=ctx.is_in_jvp
        )

    @contextmanager
    def _open_level(self) -> Iterator[int]:
        size, mode = self.info
        with batch_level(size) as level, randomness_of(mode, level, size):
            yield level


def _samples(values: Sequence[Any], batched: Sequence[bool], level: int) -> list[Any]:
    return [
        add_batch(value, level) if here and isinstance(value, Tensor) else value
        for value, here in zip(values, batched, strict=True)
    ]


def _check_writable(ctx: FunctionCtx, tensor: Tensor) -> None:
    if ctx._writable is not None:
        ctx._writable(tensor)


def _summed(gradient: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Added up over the dimensions along which ``shape`` was broadcast."""
    have = gradient._array.shape
    extra = len(have) - len(shape)
    dims = [*range(extra)]
    dims += [extra + i for i, size in enumerate(shape) if size == 1 and have[extra + i] != 1]
    if not dims:
        return gradient
    return recorded.reshape(recorded.sum(gradient, tuple(dims), True), shape)


def _own_rule(
    call: FunctionCall, info: VmapInfo, level: int, args: tuple[Any, ...], batched: list[bool]
) -> Any:
    signature = call.signature
    in_dims = tuple(0 if here else None for here in batched)
    positional = len(args) - len(call.keywords)
    named = dict(zip(call.keywords, args[positional:], strict=True))
    returned = signature.vmap(info, in_dims, *args[:positional], **named)  # type: ignore[misc]
    if not isinstance(returned, tuple) or len(returned) != 2:
        got = f"{len(returned)} returns" if isinstance(returned, tuple) else type(returned).__name__
        raise _bad_rule(
            call,
            "Expected the vmap staticmethod to have two returns, an output and out_dims with "
            f"pytree structure compatible with the output. Got {got} instead",
            "return (output, out_dims)",
        )
    output, out_dims = returned
    leaves, tree = flatten(output)
    dims = broadcast_prefix(out_dims, tree)
    if dims is None:
        raise _bad_rule(
            call,
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) "
            f"tuple: out_dims has structure {flatten(out_dims)[1]} but output has structure {tree}",
            "return one out_dim per output, nested like the output itself",
        )
    back = {id(inner): outer for inner, outer in zip(args, call.args, strict=True)}
    return tree.build(
        [_sample(leaf, dim, level, back) for leaf, dim in zip(leaves, dims, strict=True)]
    )


def _sample(leaf: Any, dim: int | None, level: int, back: dict[int, Any]) -> Any:
    if not isinstance(leaf, Tensor) or dim is None:
        return leaf
    if id(leaf) in back:  # an argument that was written to is returned itself
        return back[id(leaf)]
    return add_batch(movedim(leaf, dim, 0) if dim else leaf, level)


def _no_rule(call: FunctionCall) -> RuntimeError:
    signature = call.signature
    if signature.vmap is None:
        return _bad_rule(
            call,
            f"You tried to vmap over {signature.name}, but it does not have vmap support",
            "set generate_vmap_rule = True, if its methods are made of whygrad's functions, or "
            "give it a static method vmap(info, in_dims, *args)",
        )
    return _bad_rule(
        call,
        f"You tried to vmap over {signature.name}, but it has both generate_vmap_rule=True and an "
        "overridden vmap staticmethod: which one counts?",
        "set generate_vmap_rule=False or delete the vmap staticmethod",
    )


def _bad_rule(call: FunctionCall, cause: str, fix: str) -> RuntimeError:
    name = call.signature.name
    return fail(
        RuntimeError,
        call=f"{name}.apply({', '.join(call.signature.parameters)}), inside vmap",
        cause=cause,
        fix=fix,
        where=call.where,
    )
