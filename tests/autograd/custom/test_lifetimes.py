"""What a custom function keeps alive: nothing that its user has let go."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import whygrad as wg
from tests.autograd.custom.functions import made
from tests.autograd.tensors import leaf
from whygrad.autograd import Function, forward_ad
from whygrad.autograd.function import once_differentiable


class Keeps(Function):
    """Stores its output in every way there is."""

    generate_vmap_rule = True

    @staticmethod
    def forward(ctx, x):
        y = x * 2
        ctx.y, ctx.nested = y, {"list": [y, x]}
        ctx.save_for_backward(y, x + 1)
        ctx.save_for_forward(y)
        return y

    @staticmethod
    def backward(ctx, incoming):
        return incoming * (2 + 0 * (ctx.y + ctx.nested["list"][0] + ctx.saved_tensors[0]))

    @staticmethod
    def jvp(ctx, tangent):
        return 2 * tangent + 0 * ctx.y


class KeepsOnce(Keeps):
    @staticmethod
    @once_differentiable
    def backward(ctx, incoming):
        return Keeps.backward(ctx, incoming)


def plainly(x: wg.Tensor) -> list[Any]:
    y = Keeps.apply(x)
    y.sum().backward()
    return [y, y.grad_fn]


def retained(x: wg.Tensor) -> list[Any]:
    y = Keeps.apply(x)
    (slope,) = wg.autograd.grad(y.sum(), x, create_graph=True)
    return [y, y.grad_fn, slope]


def once(x: wg.Tensor) -> list[Any]:
    y = KeepsOnce.apply(x)
    (slope,) = wg.autograd.grad(y.sum(), x, create_graph=True)
    return [y, y.grad_fn, slope, slope.grad_fn]


def batched(x: wg.Tensor) -> list[Any]:
    y = wg.func.vmap(Keeps.apply)(wg.stack([x, x]))
    y.sum().backward()
    return [y, y.grad_fn]


def dual(x: wg.Tensor) -> list[Any]:
    with forward_ad.dual_level():
        y = Keeps.apply(forward_ad.make_dual(x, wg.ones_like(x)))
        return [y, y.grad_fn, forward_ad.unpack_dual(y).tangent]


def failing(x: wg.Tensor) -> list[Any]:
    h = x * 1
    with pytest.raises(RuntimeError):
        made(wg, lambda ctx, x: [x * 1]).apply(h)
    return [h, h.grad_fn]


@pytest.mark.parametrize("use", [plainly, retained, once, batched, dual, failing])
def test_nothing_leaks(use: Any) -> None:
    """With the collector off, an output stored on ``ctx`` goes with the last reference to it."""
    x = leaf(1.0, 2.0)
    use(x)  # fills the caches
    gc.collect()
    gc.disable()
    try:
        watched = [weakref.ref(each) for each in use(x)]
        assert [reference() for reference in watched] == [None] * len(watched)
    finally:
        gc.enable()
