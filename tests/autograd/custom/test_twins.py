"""Custom functions against the ops they wrap, and against the same functions in PyTorch."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import whygrad as wg
from tests.autograd.custom.twins import NAMES, Twin, twins
from whygrad.autograd import forward_ad, gradcheck, gradgradcheck

SHAPE = (3, 3)
COMPLETE = [
    name for name in NAMES if getattr(twins(name)[0].function, "generate_vmap_rule", False)
]  # those with jvp and a rule for vmap


def matrices(count: int, seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(SHAPE) for _ in range(count)]


def leaves(arrays: list[Any]) -> list[wg.Tensor]:
    return [wg.tensor(each, requires_grad=True) for each in arrays]


@pytest.mark.parametrize("name", NAMES)
def test_gradients_by_finite_differences(name: str) -> None:
    twin, _ = twins(name)
    inputs = leaves(matrices(twin.arity))
    assert gradcheck(twin.function.apply, inputs)
    assert gradgradcheck(twin.function.apply, inputs)


@pytest.mark.parametrize("name", NAMES)
def test_three_orders_agree_with_the_op(name: str) -> None:
    twin, _ = twins(name)

    def orders(function: Callable[..., Any]) -> list[Any]:
        inputs = leaves(matrices(twin.arity))
        found = []
        value = (function(*inputs) * wg.tensor(matrices(1, seed=1)[0])).sum()
        for _ in range(3):
            slopes = wg.autograd.grad(
                value, inputs, create_graph=True, allow_unused=True, materialize_grads=True
            )
            found += [each.detach().numpy() for each in slopes]
            if not any(each.requires_grad for each in slopes):
                break
            value = sum(((each * inputs[0]).sin().sum() for each in slopes), start=wg.tensor(0.0))
        return found

    for ours, theirs in zip(orders(twin.function.apply), orders(twin.plain), strict=False):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", COMPLETE)
def test_forward_mode_nests(name: str) -> None:
    """Tangents of two levels at once, one of them taken from a gradient."""
    twin, _ = twins(name)

    def derivatives(function: Callable[..., Any]) -> list[Any]:
        inputs = leaves(matrices(twin.arity))
        directions = [wg.tensor(each) for each in matrices(2 * twin.arity, seed=2)]
        with forward_ad.dual_level() as outer:
            duals = [forward_ad.make_dual(x, v) for x, v in zip(inputs, directions, strict=False)]
            with forward_ad.dual_level():
                inner = [
                    forward_ad.make_dual(x, v)
                    for x, v in zip(duals, directions[twin.arity :], strict=True)
                ]
                first = forward_ad.unpack_dual(function(*inner).sin()).tangent
            second = forward_ad.unpack_dual(first, level=outer)
            slopes = wg.autograd.grad(
                (second.tangent * second.primal).sum(),
                inputs,
                allow_unused=True,
                materialize_grads=True,
            )
        return [second.primal.detach(), second.tangent.detach(), *slopes]

    for ours, theirs in zip(derivatives(twin.function.apply), derivatives(twin.plain), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", COMPLETE)
def test_forward_over_reverse(name: str) -> None:
    twin, _ = twins(name)

    def product(function: Callable[..., Any]) -> Any:
        inputs = [wg.tensor(each) for each in matrices(twin.arity)]
        directions = tuple(wg.tensor(each) for each in matrices(twin.arity, seed=3))
        weight = wg.tensor(matrices(1, seed=4)[0])
        return wg.func.hvp(
            lambda *x: (function(*x) * weight).sin().sum(), tuple(inputs), directions
        )

    ours, theirs = product(twin.function.apply), product(twin.plain)
    for one, other in zip(
        *((each if isinstance(each, tuple) else (each,)) for each in (ours, theirs)), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "shared"),
    [(name, shared) for name in COMPLETE for shared in range(twins(name)[0].arity)],
)
def test_vmap_agrees_with_the_op(name: str, shared: int) -> None:
    """Values, gradients and per-sample gradients; with an argument that all samples share."""
    twin, _ = twins(name)
    in_dims = (0, None) if shared else 0

    def everything(function: Callable[..., Any]) -> list[Any]:
        inputs = leaves([np.stack(matrices(4, seed=5 + i)) for i in range(twin.arity)])
        if shared:
            inputs[1] = wg.tensor(matrices(1)[0], requires_grad=True)
        value = wg.func.vmap(function, in_dims)(*inputs)
        slopes = wg.autograd.grad((value * value).sum(), inputs, create_graph=True)
        twice = wg.autograd.grad(
            sum((each * each).sum() for each in slopes), inputs, allow_unused=True
        )
        each = wg.func.vmap(wg.func.grad(lambda *x: function(*x).sin().sum()), in_dims)
        return [value.detach(), *(s.detach() for s in slopes), *twice, each(*inputs).detach()]

    for ours, theirs in zip(everything(twin.function.apply), everything(twin.plain), strict=True):
        if theirs is None:
            assert ours is None or not ours.abs().sum()
        else:
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", COMPLETE)
def test_nested_vmap_and_jacobians(name: str) -> None:
    twin, _ = twins(name)

    def everything(function: Callable[..., Any]) -> list[Any]:
        inputs = [wg.tensor(each) for each in matrices(twin.arity)]
        batches = [
            wg.tensor(np.stack([matrices(2, seed=i), matrices(2, seed=i + 9)]))
            for i in range(twin.arity)
        ]
        return [
            wg.func.vmap(wg.func.vmap(function))(*batches),
            wg.func.vmap(wg.func.vmap(wg.func.grad(lambda *x: function(*x).sum())))(*batches),
            wg.func.jacrev(function)(*inputs),
            wg.func.jacfwd(function)(*inputs),
            wg.func.hessian(lambda *x: function(*x).sin().sum())(*inputs),
        ]

    for ours, theirs in zip(everything(twin.function.apply), everything(twin.plain), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


class Program:
    """A random graph of the twins, as a list of steps over a growing pool of matrices."""

    def __init__(self, seed: int) -> None:
        choose = random.Random(seed)
        self.leaves = choose.randint(1, 3)
        self.steps: list[tuple[str, list[int]]] = []
        for number in range(choose.randint(3, 9)):
            name = choose.choice(NAMES)
            size = self.leaves + number
            self.steps.append((name, [choose.randrange(size) for _ in range(twins(name)[0].arity)]))

    def run(self, pool: list[Any], function: Callable[[str], Callable[..., Any]]) -> Any:
        pool = list(pool)
        for name, places in self.steps:
            pool.append(function(name)(*[pool[place] for place in places]))
        return sum((each.sin().sum() for each in pool[self.leaves :]), start=pool[-1].sum() * 0)


def gradients(value: Any, inputs: list[Any], lib: Any) -> list[Any]:
    """First and mixed second derivatives."""
    first = lib.autograd.grad(value, inputs, create_graph=True, allow_unused=True)
    used = [each for each in first if each is not None]
    second = lib.autograd.grad(sum((each * each).sum() for each in used), inputs, allow_unused=True)
    return [None if each is None else each.detach().numpy() for each in (*first, *second)]


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs(seed: int) -> None:
    program = Program(seed)
    arrays = matrices(program.leaves, seed)

    def ours(pick: Callable[[Twin], Any]) -> list[Any]:
        inputs = leaves(arrays)
        return gradients(program.run(inputs, lambda name: pick(twins(name)[0])), inputs, wg)

    theirs = [torch.tensor(each, requires_grad=True) for each in arrays]
    value = program.run(theirs, lambda name: twins(name)[1].function.apply)
    expected = gradients(value, theirs, torch)
    for found in (ours(lambda twin: twin.function.apply), ours(lambda twin: twin.plain)):
        for one, other in zip(found, expected, strict=True):
            if one is None or other is None:
                assert all(each is None or not each.any() for each in (one, other))
            else:
                np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8)
