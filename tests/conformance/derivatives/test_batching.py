"""``vmap`` of every op against a Python loop over the samples: values and gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import whygrad
from tests.conformance.harness import (
    Side,
    as_numpy,
    every_sample,
    flatten,
    weighted_sum,
    whygrad_side,
)
from whygrad.func import grad, vmap
from whygrad.ops.define import Op, table
from whygrad.ops.samples import Call
from whygrad.tensor import Tensor
from whygrad.tensor.dtypes import DType

SIZE = 3
# What an op says that needs the numbers themselves, gives results of unforeseeable shape, or asks
# for a sample's neighbours in memory.
DOCUMENTED = ("data-dependent control flow", "dynamic shape", "vmap does not support", "stride 1")


def as_function(op: Op, call: Call) -> tuple[Callable[..., Any], list[Tensor]]:
    """The sample as a function of its float arrays, with tensors only as results."""
    side = whygrad_side(call, "float64")
    return on_other_inputs(op, side, side.inputs), side.inputs


def on_other_inputs(op: Op, side: Side, originals: list[Tensor]) -> Callable[..., Any]:
    """The call with other tensors in the place of the original ones."""

    def function(*inputs: Tensor) -> Any:
        replacement = dict(zip(map(id, originals), inputs, strict=True))

        def swap(value: Any) -> Any:
            if isinstance(value, Tensor):
                return replacement.get(id(value), value)
            if isinstance(value, (list, tuple)):
                return type(value)(swap(each) for each in value)
            return value

        named = {name: swap(value) for name, value in side.kwargs.items()}
        return tuple(flatten(side.call.on(op.public)(*swap(side.args), **named)))

    return function


def stacked(tensor: Tensor) -> Tensor:
    """Samples that differ but stay on the same side of kinks and inside domains."""
    copies = [as_numpy(tensor) * (1 - 0.01 * number) for number in range(SIZE)]
    return whygrad.from_numpy(np.stack(copies)).requires_grad_()


def looped(function: Callable[..., Any], dims: tuple[int | None, ...], inputs: list[Tensor]) -> Any:
    results = [
        function(*[each if dim is None else each[number] for each, dim in zip(inputs, dims)])
        for number in range(SIZE)
    ]
    return [whygrad.stack(list(each)) for each in zip(*results, strict=True)]


def pulled_back(outputs: list[Tensor], inputs: list[Tensor]) -> list[Any]:
    """Gradients of a weighted sum of all outputs."""
    rng = np.random.default_rng(7)
    total: Any = 0.0
    for out in outputs:
        weights = rng.uniform(0.5, 1.5, tuple(out.shape))
        if out.requires_grad:
            total = total + weighted_sum(out, whygrad.from_numpy(np.asarray(weights)))
    if not isinstance(total, Tensor):
        return []
    return list(whygrad.autograd.grad(total, inputs, allow_unused=True))


def has_gradient(outputs: Any) -> bool:
    return any(
        isinstance(each, Tensor) and each.requires_grad and each.layout is whygrad.strided
        for each in outputs
    )


@every_sample()
def test_vmap_is_a_loop(op: Op, call: Call) -> None:
    function, inputs = as_function(op, call)
    if not inputs:
        return
    if not all(isinstance(each, Tensor) for each in function(*inputs)):
        pytest.skip("returns a Python value, which cannot differ per sample")
    choices = {(0, *[None] * (len(inputs) - 1)), (0,) * len(inputs)}
    for dims in choices:
        batches = [
            each if dim is None else stacked(each) for each, dim in zip(inputs, dims, strict=True)
        ]
        try:
            mine = list(vmap(function, dims, randomness="different")(*batches))
        except RuntimeError as error:
            if not any(phrase in str(error) for phrase in DOCUMENTED):
                raise
            pytest.skip(str(error).splitlines()[1])
        theirs = looped(function, dims, batches)
        label = f"{op.name}, in_dims={dims}"
        for place, (a, b) in enumerate(zip(mine, theirs, strict=True)):
            assert (a.shape, a.dtype) == (b.shape, b.dtype), f"{label}, output {place}"
            np.testing.assert_allclose(as_numpy(a), as_numpy(b), 1e-9, 1e-11, err_msg=label)
        gradients = zip(pulled_back(mine, batches), pulled_back(theirs, batches), strict=True)
        for place, (a, b) in enumerate(gradients):
            where = f"{label}, gradient of input {place}"
            assert (a is None) == (b is None), f"{where}: {a} against {b}"
            if a is not None:
                np.testing.assert_allclose(as_numpy(a), as_numpy(b), 1e-8, 1e-10, err_msg=where)


@every_sample(lambda op: op.kind != "composite")
def test_other_numbers_are_batched_too(op: Op, call: Call) -> None:
    """Calls without a float among their tensors: integers, bools, complex numbers."""
    found: list[Tensor] = []

    def make(array: Any, requires_grad: bool) -> Any:
        if isinstance(array, DType):
            return array
        found.append(whygrad.from_numpy(np.array(array)))
        return found[-1]

    side = Side(call, make)
    if not found or any(each.dtype.is_floating_point for each in found):
        return
    function = on_other_inputs(op, side, found)
    rolled = [[np.roll(as_numpy(each), number) for number in range(SIZE)] for each in found]
    batches = [whygrad.from_numpy(np.stack(each)) for each in rolled]
    try:
        mine = vmap(function)(*batches)
    except RuntimeError as error:
        if not any(phrase in str(error) for phrase in DOCUMENTED):
            raise
        pytest.skip(str(error).splitlines()[1])
    for a, b in zip(mine, looped(function, (0,) * len(found), batches), strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_array_equal(as_numpy(a), as_numpy(b))


@every_sample()
def test_levels_nest(op: Op, call: Call) -> None:
    """Batched by two levels at once: the rules run on batched tensors in turn."""
    function, inputs = as_function(op, call)
    if not inputs or not all(isinstance(each, Tensor) for each in function(*inputs)):
        return
    batches = [stacked(each) for each in inputs]
    inner = (0, *[None] * (len(inputs) - 1))
    outer = (None, *[0] * (len(inputs) - 1)) if len(inputs) > 1 else (0,)
    if len(inputs) == 1:
        batches = [stacked(each) for each in batches]
    nested = vmap(vmap(function, inner, randomness="different"), outer, randomness="different")
    try:
        mine = nested(*batches)
    except RuntimeError as error:
        if not any(phrase in str(error) for phrase in DOCUMENTED):
            raise
        return
    for number in range(SIZE):
        sample = [
            each if dim is None else each[number] for each, dim in zip(batches, outer, strict=True)
        ]
        for a, b in zip(mine, looped(function, inner, sample), strict=True):
            assert a.shape == (SIZE, *b.shape)
            np.testing.assert_allclose(as_numpy(a[number]), as_numpy(b), 1e-9, 1e-11)


@every_sample(lambda op: op.differentiable)
def test_many_gradients_at_once(op: Op, call: Call) -> None:
    """``vmap`` over the gradient that is sent back: a Jacobian in one backward pass."""
    function, inputs = as_function(op, call)
    outputs = [
        each
        for each in (function(*inputs) if inputs else ())
        if isinstance(each, Tensor) and each.requires_grad and each.layout is whygrad.strided
    ]
    if not outputs:
        return
    rng = np.random.default_rng(0)
    sent = [
        whygrad.from_numpy(np.asarray(rng.normal(size=(SIZE, *each.shape)))) for each in outputs
    ]

    def pull(*gradients: Tensor) -> Any:
        found = whygrad.autograd.grad(
            outputs, inputs, list(gradients), retain_graph=True, allow_unused=True
        )
        return tuple(each for each in found if each is not None)

    try:
        mine = vmap(pull)(*sent)
    except RuntimeError as error:
        if "vmap does not support sparse" not in str(error):
            raise
        pytest.skip("a sparse tensor on the way")
    for a, b in zip(mine, looped(pull, (0,) * len(sent), sent), strict=True):
        np.testing.assert_allclose(as_numpy(a), as_numpy(b), 1e-8, 1e-10)


@every_sample(lambda op: op.differentiable)
def test_gradient_of_each_sample(op: Op, call: Call, index: int) -> None:
    """``vmap`` of ``func.grad``: nothing of one sample may leak into the gradient of another."""
    function, inputs = as_function(op, call)
    if not inputs or not has_gradient(function(*inputs)):
        return

    def weighted(*at: Tensor) -> Any:
        total: Any = 0.0
        for out in function(*at):
            if isinstance(out, Tensor) and out.dtype.is_differentiable:
                weights = np.linspace(0.5, 1.5, out.numel()).reshape(tuple(out.shape))
                total = total + weighted_sum(out, whygrad.from_numpy(weights))
        return total

    carrier = index % len(inputs)  # the others are shared by all samples
    dims = tuple(0 if place == carrier else None for place in range(len(inputs)))
    batches = [
        each.detach() if dim is None else stacked(each).detach()
        for each, dim in zip(inputs, dims, strict=True)
    ]
    per_sample = grad(weighted, tuple(range(len(inputs))))
    try:
        mine = vmap(per_sample, dims, randomness="different")(*batches)
    except RuntimeError as error:
        if not any(phrase in str(error) for phrase in DOCUMENTED):
            raise
        pytest.skip(str(error).splitlines()[1])
    theirs = looped(per_sample, dims, batches)
    for place, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        label = f"{op.name}, in_dims={dims}, gradient of input {place}"
        np.testing.assert_allclose(as_numpy(a), as_numpy(b), 1e-8, 1e-10, err_msg=label)


@pytest.mark.parametrize("op", [op for op in table.values() if op.kind == "view"], ids=str)
def test_views_stay_views(op: Op) -> None:
    """A write to a view inside must reach the batch, so no view may be left to the loop."""
    assert op.batching is not None or op.name in ("as_strided", "sparse_entries")
