"""Gradients through packed values: the same as without, or an error after a write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import whygrad as wg
from tests.autograd.packing import keep, same, through_numpy
from tests.autograd.tensors import leaf
from tests.conformance.harness import assert_same_gradients, every_sample, gradients, whygrad_side
from whygrad.autograd.graph import saved_tensors_hooks
from whygrad.ops.define import Op
from whygrad.ops.samples import Call


@every_sample(lambda op: op.vjp is not None)
def test_gradients_of_every_op_survive_packing(op: Op, call: Call) -> None:
    plain, packed = whygrad_side(call, "float64"), whygrad_side(call, "float64")
    plain_outputs = plain.run(op.public)
    hooks = saved_tensors_hooks(_as_numbers, _from_numbers)
    with hooks:
        packed_outputs = packed.run(op.public)
    assert_same_gradients(
        gradients(packed, packed_outputs, wg),
        gradients(plain, plain_outputs, wg),
        "float64",
        op.name,
    )


def _as_numbers(x: wg.Tensor) -> Any:
    if x.layout is not wg.strided:
        return x.detach()
    return x.detach().numpy().copy()


def _from_numbers(packed: Any) -> wg.Tensor:
    return packed if isinstance(packed, wg.Tensor) else wg.from_numpy(packed)


@pytest.mark.parametrize("inside", [True, False])
def test_higher_orders(inside: bool) -> None:
    x = leaf(0.5, -1.5)

    def third(hooks: Any) -> list[float]:
        with hooks:
            y = ((x * x).tanh() * x.exp()).sum()
            if inside:
                (first,) = wg.autograd.grad(y, x, create_graph=True)
        if not inside:
            (first,) = wg.autograd.grad(y, x, create_graph=True)
        (second,) = wg.autograd.grad(first.sum(), x, create_graph=True)
        (result,) = wg.autograd.grad(second.sum(), x)
        return result.tolist()

    np.testing.assert_allclose(third(through_numpy()), third(wg.enable_grad()))


def test_the_backward_of_a_recorded_backward_is_packed_too() -> None:
    def count(lib: Any) -> int:
        calls = []
        x = lib.tensor([1.0, 2.0], requires_grad=True)
        hooks = lib.autograd.graph.saved_tensors_hooks(
            lambda y: calls.append(1) or y.detach(), same
        )
        with hooks:
            y = (x * x).sum()
            lib.autograd.grad(y, x, create_graph=True)
        return len(calls)

    assert count(wg) == count(torch)


def test_in_place_ops_are_packed() -> None:
    x = leaf(1.0, 2.0)
    with through_numpy():
        y = x.clone()
        y.mul_(y).exp_()
    y.sum().backward()
    values = np.array([1.0, 2.0])
    np.testing.assert_allclose(x.grad.numpy(), np.exp(values**2) * 2 * values)


def test_under_vmap_and_forward_mode() -> None:
    x = leaf(1.0, 2.0)
    with through_numpy():
        y = wg.func.vmap(lambda row: row.exp() * row)(x.unsqueeze(1)).sum()
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), np.exp([1.0, 2.0]) * [2.0, 3.0])
    with through_numpy():
        _, slope = wg.func.jvp(lambda t: wg.func.grad(lambda u: (u**3).sum())(t), (x,), (x,))
    np.testing.assert_allclose(slope.detach().numpy(), [6.0, 24.0])


def test_a_packed_copy_may_outlive_a_write() -> None:
    def run(lib: Any) -> list[float]:
        x = lib.tensor([1.0, 2.0], requires_grad=True)
        h = x * 1
        with lib.autograd.graph.saved_tensors_hooks(lambda y: y.detach().clone(), same):
            y = h * h
        with lib.no_grad():
            h.add_(1)
        y.sum().backward()
        return x.grad.tolist()

    assert run(wg) == run(torch) == [2.0, 4.0]


LENT = {
    "the tensor": (same, same),
    "detached": (keep, same),
    "deep inside": (lambda x: (1, {"x": [x]}), lambda packed: packed[1]["x"][0]),
    "data": (lambda x: x.data, same),
    "numpy": (lambda x: x.detach().numpy(), wg.from_numpy),
}


@pytest.mark.parametrize("how", LENT)
def test_memory_that_was_only_lent_is_still_watched(how: str) -> None:
    """PyTorch uses the new values here and returns a wrong gradient."""
    x = leaf(1.0, 2.0)
    h = x * 1
    with saved_tensors_hooks(*LENT[how]):
        y = h * h
    with wg.no_grad():
        h.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation: add_ wrote"):
        y.sum().backward()


def test_a_recorded_backward_watches_lent_memory_too() -> None:
    x = leaf(1.0, 2.0)
    h = x * 1
    with saved_tensors_hooks(keep, same):
        y = (h * h * h).sum()
    (first,) = wg.autograd.grad(y, h, create_graph=True)
    with wg.no_grad():
        h.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation: add_ wrote"):
        first.sum().backward()
