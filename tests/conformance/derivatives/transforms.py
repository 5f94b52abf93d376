"""An op under two transforms at once, beside a Python loop of single samples.

Every pair computes what a plain transform of one sample computes, sample after sample.  The same
goes for the op with writes around it: its argument is put together through views, and its result
is copied into a view of new memory, which changes nothing about the mathematics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
import torch.func

import whygrad
from tests.conformance.derivatives.test_batching import SIZE, on_other_inputs
from tests.conformance.harness import as_numpy, flatten, torch_function, torch_side, whygrad_side
from whygrad.func import grad, jvp, vmap
from whygrad.ops.define import Op
from whygrad.ops.samples import Call, samples_of
from whygrad.tensor import Tensor

__all__ = ["PAIRS", "Sample", "telling_samples", "with_pytorch"]

Function = Callable[..., tuple[Tensor, ...]]


class Sample:
    """One sample call of an op as a function of its float arrays, and batches of such arrays.

    Also what the loop gives: it is the same for every pair and way of writing.
    """

    def __init__(self, op: Op, call: Call, shared: int | None = None) -> None:
        """``shared``: the only input that has a batch; the others are the same for all samples."""
        side = whygrad_side(call, "float64")
        self.op = op
        self.call = call
        self._run = on_other_inputs(op, side, side.inputs)
        arrays = [as_numpy(each) for each in side.inputs]
        self.points = [[_varied(array, number) for number in range(SIZE)] for array in arrays]
        self.dims: list[int | None] = [
            [-1, min(1, array.ndim), 0][place % 3] for place, array in enumerate(arrays)
        ]
        rng = np.random.default_rng(3)
        self.directions = [
            [np.asarray(rng.uniform(0.5, 1.5, array.shape)) for _ in range(SIZE)]
            for array in arrays
        ]
        self.tangent_dims = list(self.dims)
        if shared is not None:
            for place, points in enumerate(self.points):
                if place != shared:
                    self.dims[place] = None
                    points[:] = [points[0]] * SIZE

    @property
    def inputs(self) -> list[Tensor]:
        """Batches, and what the samples share."""
        return [_batch(points, dim) for points, dim in zip(self.points, self.dims, strict=True)]

    @property
    def tangents(self) -> list[Tensor]:
        return [_batch(each, dim) for each, dim in zip(self.directions, self.tangent_dims)]

    def single(self, number: int) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        """The inputs and the tangents of one sample."""
        return tuple(_tensor(each[number]) for each in self.points), tuple(
            _tensor(each[number]) for each in self.directions
        )

    @cached_property
    def values(self) -> list[Tensor]:
        """The outputs of a loop."""
        return _looped(self.function, [self.single(number)[0] for number in range(SIZE)])

    @cached_property
    def pushed(self) -> list[Tensor]:
        """Values and slopes of a loop."""
        singles = [self.single(number) for number in range(SIZE)]
        return _looped(_pushed(self.function), [(*at, *along) for at, along in singles])

    @cached_property
    def pushed_together(self) -> list[Tensor]:
        """The same with one tangent for each input that the samples share."""
        if None not in self.dims:
            return self.pushed
        _, first = self.single(0)
        arguments = []
        for number in range(SIZE):
            at, own = self.single(number)
            along = [
                each if dim is not None else shared
                for each, shared, dim in zip(own, first, self.dims, strict=True)
            ]
            arguments.append((*at, *along))
        return _looped(_pushed(self.function), arguments)

    @cached_property
    def gradients(self) -> list[Tensor]:
        """The gradients of a loop."""
        points = [self.single(number)[0] for number in range(SIZE)]
        return _looped(_gradient(self, self.function), points)

    @cached_property
    def second_derivative(self) -> tuple[Tensor, ...]:
        """That of the first sample along its tangents, by reverse mode alone."""
        at, along = self.single(0)
        slopes = _gradient(self, self.function)

        def along_tangents(*inputs: Tensor) -> Tensor:
            return sum(
                ((slope * each).sum() for slope, each in zip(slopes(*inputs), along)),
                whygrad.zeros((), dtype=whygrad.float64),
            )

        found: tuple[Tensor, ...] = grad(along_tangents, tuple(range(len(at))))(*at)
        return found

    def function(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """The outputs that are tensors with memory."""
        return tuple(
            each
            for each in self._run(*inputs)
            if isinstance(each, Tensor) and each.layout is whygrad.strided
        )

    def written(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """The same, with views written before and after."""
        outputs = self.function(*[_put_together(each) for each in inputs])
        return tuple(map(_copied, outputs))

    def overwritten(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """The same, with the arguments themselves written to, and back."""
        for each in inputs:
            _there_and_back(each)
        return self.function(*inputs)


def _varied(array: Any, number: int) -> Any:
    """Samples that differ but stay on the same side of kinks and inside domains."""
    return np.asarray(array * (1 - 0.01 * number))


def _tensor(array: Any) -> Tensor:
    return whygrad.from_numpy(np.array(array))


def _batch(arrays: Sequence[Any], dim: int | None) -> Tensor:
    if dim is None:
        return _tensor(arrays[0])
    return _tensor(np.ascontiguousarray(np.stack(arrays, dim)))


def _part(tensor: Tensor, start: int) -> Tensor:
    return tensor[..., start::2] if tensor.ndim else tensor.unsqueeze(0)[start:]


def _put_together(x: Tensor) -> Tensor:
    made = x.new_empty(x.shape)
    _part(made, 0).copy_(_part(x, 0))
    _part(made, 1).copy_(_part(x, 1))
    return made


def _there_and_back(x: Tensor) -> None:
    kept = x.clone()
    _part(x, 0).mul_(2)
    _part(x, 0).copy_(_part(kept, 0))


def _copied(output: Tensor) -> Tensor:
    if not output.dtype.is_floating_point:
        return output
    around = output.new_zeros((2, *output.shape))
    around[1].copy_(output)
    return around.sum(0)


def _floats(outputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
    return tuple(each for each in outputs if each.dtype.is_floating_point)


def _number(function: Function) -> Callable[..., Tensor]:
    """A weighted sum of all outputs; ``function`` may be one of samples or of batches."""

    def total(*inputs: Tensor) -> Tensor:
        found = whygrad.zeros((), dtype=whygrad.float64)
        for out in _floats(function(*inputs)):
            weights = np.cos(np.arange(out.numel())).reshape(tuple(out.shape))
            found = found + (out * whygrad.from_numpy(np.asarray(weights))).sum()
        return found

    return total


def _numbers_added_up(sample: Sample, function: Function) -> Callable[..., Tensor]:
    per_sample = vmap(_number(function), tuple(sample.dims), randomness="different")
    return lambda *inputs: per_sample(*inputs).sum()


def _gradient(sample: Sample, function: Function) -> Callable[..., tuple[Tensor, ...]]:
    gradient: Callable[..., tuple[Tensor, ...]] = grad(
        _number(function), tuple(range(len(sample.points)))
    )
    return gradient


def _pushed(function: Function) -> Callable[..., tuple[Tensor, ...]]:
    """Values and slopes of the float outputs, for inputs followed by tangents."""

    def push(*both: Tensor) -> tuple[Tensor, ...]:
        half = len(both) // 2
        outputs, slopes = jvp(lambda *at: _floats(function(*at)), both[:half], both[half:])
        return (*outputs, *slopes)

    return push


def _looped(function: Callable[..., Any], arguments: list[tuple[Tensor, ...]]) -> list[Tensor]:
    results = [function(*each) for each in arguments]
    return [whygrad.stack(list(each)) for each in zip(*results, strict=True)]


# What each pair gives, then what the loop gives; (sample, function with or without writes).
Pair = Callable[[Sample, Function], tuple[Sequence[Tensor], Sequence[Tensor]]]


def _vmap(sample: Sample, function: Function) -> Any:
    mapped = vmap(function, tuple(sample.dims), randomness="different")
    return mapped(*sample.inputs), sample.values


def _chunks(sample: Sample, function: Function) -> Any:
    mapped = vmap(function, tuple(sample.dims), -1, randomness="different", chunk_size=2)
    found = [each.movedim(-1, 0) for each in mapped(*sample.inputs)]
    return found, sample.values


def _vmap_jvp(sample: Sample, function: Function) -> Any:
    dims = (*sample.dims, *sample.tangent_dims)
    mapped = vmap(_pushed(function), dims, randomness="different")
    return mapped(*sample.inputs, *sample.tangents), sample.pushed


def _jvp_vmap(sample: Sample, function: Function) -> Any:
    mapped = vmap(lambda *at: _floats(function(*at)), tuple(sample.dims), randomness="different")
    tangents = [
        along if dim is not None else along.movedim(place, 0)[0]
        for along, dim, place in zip(sample.tangents, sample.dims, sample.tangent_dims)
    ]
    outputs, slopes = jvp(mapped, tuple(sample.inputs), tuple(tangents))
    return (*outputs, *slopes), sample.pushed_together


def _vmap_grad(sample: Sample, function: Function) -> Any:
    mapped = vmap(_gradient(sample, function), tuple(sample.dims), randomness="different")
    return mapped(*sample.inputs), sample.gradients


def _grad_vmap(sample: Sample, function: Function) -> Any:
    whole = grad(_numbers_added_up(sample, function), tuple(range(len(sample.dims))))
    found = [
        each if dim is None else each.movedim(dim, 0)
        for each, dim in zip(whole(*sample.inputs), sample.dims, strict=True)
    ]
    loop = [
        each.sum(0) if dim is None else each
        for each, dim in zip(sample.gradients, sample.dims, strict=True)
    ]
    return found, loop


def _jvp_grad(sample: Sample, function: Function) -> Any:
    at, along = sample.single(0)
    return jvp(_gradient(sample, function), at, along)[1], sample.second_derivative


def _grad_jvp(sample: Sample, function: Function) -> Any:
    at, along = sample.single(0)
    slope = grad(lambda *inputs: jvp(_number(function), inputs, along)[1], tuple(range(len(at))))
    return slope(*at), sample.second_derivative


def with_pytorch(sample: Sample, name: str) -> list[Any] | None:
    """What PyTorch gives for a pair, if it can; torch.func does not know everything."""
    side = torch_side(sample.call, "float64")
    func = torch.func

    def function(*inputs: Any) -> tuple[Any, ...]:
        swapped = dict(zip(map(id, side.inputs), inputs, strict=True))
        args = _swapped(side.args, swapped)
        named = _swapped(side.kwargs, swapped)
        called = sample.call.on(torch_function(sample.op))(*args, **named)
        return tuple(each for each in flatten(called) if each.is_floating_point())

    def number(*inputs: Any) -> Any:
        return sum(
            (out * torch.arange(out.numel(), dtype=torch.float64).cos().reshape(out.shape)).sum()
            for out in function(*inputs)
        )

    def push(*both: Any) -> Any:
        half = len(both) // 2
        outputs, slopes = func.jvp(function, both[:half], both[half:])
        return (*outputs, *slopes)

    at = [torch.from_numpy(as_numpy(each)) for each in sample.inputs]
    along = [torch.from_numpy(as_numpy(each)) for each in sample.tangents]
    try:
        if name == "vmap of jvp":
            found = func.vmap(push, (*sample.dims, *sample.tangent_dims))(*at, *along)
        else:
            gradient = func.grad(number, tuple(range(len(at))))
            found = func.vmap(gradient, tuple(sample.dims))(*at)
    except Exception:
        return None
    if any(len(each) != SIZE for each in found):  # its grid_sampler forgets the samples
        return None
    return [each + 0 for each in found]  # zeros of PyTorch may have no memory


def _swapped(value: Any, swapped: dict[int, Any]) -> Any:
    if isinstance(value, dict):
        return {name: _swapped(each, swapped) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_swapped(each, swapped) for each in value)
    return swapped.get(id(value), value)


PAIRS: dict[str, Pair] = {
    "vmap": _vmap,
    "vmap in chunks": _chunks,
    "vmap of jvp": _vmap_jvp,
    "jvp of vmap": _jvp_vmap,
    "vmap of grad": _vmap_grad,
    "grad of vmap": _grad_vmap,
    "jvp of grad": _jvp_grad,
    "grad of jvp": _grad_jvp,
}


def telling_samples(op: Op) -> list[Call]:
    """A few samples that have something in them: the first, and the last with other arguments."""
    calls = [call for call in samples_of(op) if _has_numbers(call)]
    return calls if len(calls) <= 2 else [calls[0], calls[-1]]


def _has_numbers(call: Call) -> bool:
    inputs = whygrad_side(call, "float64").inputs
    return bool(inputs) and all(each.numel() for each in inputs)
