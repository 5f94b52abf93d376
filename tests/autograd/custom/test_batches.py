"""Custom functions inside ``vmap``: rules of their own, and runs on samples."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
import torch

import whygrad as wg
from whygrad.autograd import Function


def functions(lib: Any) -> Any:
    class OwnRule(lib.autograd.Function):
        told: ClassVar[list[Any]] = []

        @staticmethod
        def forward(x, y, power):
            return x * y**power

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, y, ctx.power = inputs
            ctx.save_for_backward(x, y)

        @staticmethod
        def backward(ctx, incoming):
            x, y = ctx.saved_tensors
            of_y = incoming * x * ctx.power * y ** (ctx.power - 1)
            return incoming * y**ctx.power, of_y, None

        @staticmethod
        def vmap(info, in_dims, x, y, power):
            OwnRule.told.append((info.batch_size, info.randomness, in_dims))
            x_dim, y_dim, _ = in_dims
            x = x if x_dim is None else x.movedim(x_dim, 0)
            y = y if y_dim is None else y.movedim(y_dim, 0)
            return OwnRule.apply(x, y, power), 0

    return OwnRule


@pytest.mark.parametrize("in_dims", [(0, 0, None), (0, None, None), (None, 0, None)])
def test_own_rule(in_dims: Any) -> None:
    def run(lib: Any) -> list[Any]:
        function = functions(lib)
        arrays = [np.arange(1.0, 7).reshape(2, 3), np.arange(2.0, 8).reshape(2, 3)]
        inputs = [
            lib.tensor(array if dim == 0 else array[0], requires_grad=True)
            for array, dim in zip(arrays, in_dims, strict=False)
        ]
        y = lib.func.vmap(function.apply, in_dims=in_dims)(*inputs, 2)
        slopes = lib.autograd.grad(y.sum(), inputs)
        return [y.tolist(), *(each.tolist() for each in slopes), function.told]

    assert run(wg) == run(torch)


def test_own_rule_is_told_about_randomness() -> None:
    function = functions(wg)
    wg.func.vmap(function.apply, in_dims=(0, None, None), randomness="same")(
        wg.ones(2), wg.ones(()), 2
    )
    assert function.told == [(2, "same", (0, None, None))]


def test_several_outputs_and_dims() -> None:
    class Moved(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1, x * 2

        @staticmethod
        def vmap(info, in_dims, x):
            return (x.mT, (x * 2)), (1, 0)

    x = wg.arange(6.0).view(2, 3)
    first, second = wg.func.vmap(Moved.apply)(x)
    assert first.tolist() == x.tolist()
    assert second.tolist() == (x * 2).tolist()


class Noisy(Function):
    """Draws in forward and in backward; keeps a sample on ctx."""

    generate_vmap_rule = True

    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        ctx.noise = wg.randn(x.shape)
        return x + ctx.noise

    @staticmethod
    def backward(ctx, incoming):
        assert ctx.x.shape == incoming.shape == ctx.noise.shape
        return incoming + 0 * wg.randn(incoming.shape)


def test_randomness_is_that_of_vmap() -> None:
    x = wg.zeros(3, 2, requires_grad=True)
    with pytest.raises(RuntimeError, match="randomness error mode"):
        wg.func.vmap(Noisy.apply)(x)
    y = wg.func.vmap(Noisy.apply, randomness="same")(x)
    assert y[0].tolist() == y[1].tolist()
    y = wg.func.vmap(Noisy.apply, randomness="different")(x)
    assert y[0].tolist() != y[1].tolist()
    y.sum().backward()
    assert x.grad.tolist() == [[1.0, 1.0]] * 3


def test_samples_are_written_to() -> None:
    class Triple(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(3)

        @staticmethod
        def backward(ctx, incoming):
            return 3 * incoming

    def one(x: wg.Tensor) -> wg.Tensor:
        h = x * 1
        assert Triple.apply(h) is h
        return h.sin()

    x = wg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = wg.func.vmap(one)(x)
    np.testing.assert_allclose(y.detach(), np.sin(3 * x.detach().numpy()), rtol=1e-6)
    y.sum().backward()
    np.testing.assert_allclose(x.grad, 3 * np.cos(3 * x.detach().numpy()), rtol=1e-6)


def test_a_shared_argument_gets_the_sum() -> None:
    """Also if backward returns the same for each sample, where PyTorch counts it once."""

    class Shift(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(ctx, x, bias):
            return x + bias

        @staticmethod
        def backward(ctx, incoming):
            return incoming, wg.ones(2)

    x, bias = wg.zeros(5, 2), wg.zeros(2, requires_grad=True)
    wg.func.vmap(Shift.apply, in_dims=(0, None))(x, bias).sum().backward()
    assert bias.grad.tolist() == [5.0, 5.0]


def test_outputs_that_do_not_depend_on_the_sample() -> None:
    class Pair(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(ctx, x, w):
            ctx.mark_non_differentiable(whole := (x > 0).long())
            return x * 2, w * 3, whole

        @staticmethod
        def backward(ctx, of_x, of_w, _):
            return 2 * of_x, 3 * of_w

    x = wg.ones(4, 2, requires_grad=True)
    w = wg.ones(2, requires_grad=True)
    first, second, whole = wg.func.vmap(Pair.apply, in_dims=(0, None))(x, w)
    assert second.shape == (4, 2)
    assert whole.tolist() == [[1, 1]] * 4
    (first.sum() + second.sum()).backward()
    assert x.grad.tolist() == [[2.0, 2.0]] * 4
    assert w.grad.tolist() == [12.0, 12.0]


def test_a_shared_argument_reaches_outputs_of_both_kinds() -> None:
    """Through one output that differs between samples and one that does not."""

    class Two(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return x * w, w * 3

        @staticmethod
        def backward(ctx, of_product, of_triple):
            x, w = ctx.saved_tensors
            return of_product * w, of_product * x + 3 * of_triple

    x = wg.arange(4.0)
    w = wg.tensor(2.0, requires_grad=True)
    product, triple = wg.func.vmap(Two.apply, in_dims=(0, None))(x, w)
    (product.sum() + triple.sum()).backward()
    assert w.grad.item() == 6.0 + 4 * 3.0


def test_a_sample_that_escaped() -> None:
    kept: list[Any] = []
    wg.func.vmap(lambda x: kept.append(x) or x)(wg.ones(3, 2))
    with pytest.raises(RuntimeError, match="escaped from inside a function being vmapped"):
        Noisy.apply(kept[0])


def test_a_call_without_samples_is_an_ordinary_call() -> None:
    class Plain(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, incoming):
            return 2 * incoming

    w = wg.ones(2, requires_grad=True)
    y = wg.func.vmap(lambda x: x * Plain.apply(w))(wg.ones(3, 2))
    y.sum().backward()
    assert w.grad.tolist() == [6.0, 6.0]
