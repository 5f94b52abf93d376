"""``autograd.Function``: what a call does, against PyTorch where PyTorch has an answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import whygrad as wg
from tests.autograd.custom.functions import Square, made
from tests.autograd.tensors import leaf
from whygrad.autograd.function import FunctionCtx


def test_a_call_is_one_node() -> None:
    x = leaf(1.0, 2.0)
    y = Square.apply(x)
    node = y.grad_fn
    assert node.name() == "SquareBackward"
    assert "Square.apply(x)" in str(node.where)
    assert node.op.formula == "y = x²"
    assert [parent.name() for parent, _ in node.next_functions] == ["AccumulateGrad"]
    assert node.saved.keys() == {"x"}
    assert node.needs_input_grad == (True,)
    assert node.saved_tensors[0].tolist() == [1.0, 2.0]
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_forward_is_not_recorded_and_backward_is_if_wanted() -> None:
    modes = []

    def forward(ctx, x):
        modes.append(wg.is_grad_enabled())
        assert isinstance(ctx, FunctionCtx)
        assert x.requires_grad
        return x * 1

    def backward(ctx, incoming):
        modes.append(wg.is_grad_enabled())
        return incoming

    x = leaf(1.0)
    function = made(wg, forward, backward)
    wg.autograd.grad(function.apply(x).sum(), x)
    wg.autograd.grad(function.apply(x).sum(), x, create_graph=True)
    assert modes == [False, False, False, True]
    assert wg.is_grad_enabled()


def test_arguments_of_every_kind() -> None:
    """Tensors and other things mixed; None; keywords; gradients count all of them."""
    seen = {}

    def run(lib: Any) -> list[Any]:
        def forward(ctx, x, label, y, z=None, scale=1.0, unused=None):
            ctx.scale = scale
            seen[lib] = ctx.needs_input_grad
            return x * scale

        function = made(lib, forward, lambda ctx, g: (g * ctx.scale, None, None, 7 * g, None))
        x, y, z = (lib.tensor([1.0, 2.0], requires_grad=each) for each in (True, False, True))
        function.apply(x, "a label", y, scale=3.0, z=z).sum().backward()
        return [x.grad.tolist(), z.grad.tolist()]

    assert run(wg) == run(torch) == [[3.0, 3.0], [7.0, 7.0]]
    assert seen[wg] == seen[torch] == (True, False, False, True, False)


def test_keywords_may_leave_out_arguments_with_defaults() -> None:
    """And may be for keywords only; PyTorch takes neither."""

    def forward(ctx, x, y=None, z=None, *, scale=1.0):
        return x * scale

    x, z = leaf(1.0), leaf(2.0)
    function = made(wg, forward, lambda ctx, g: (g, None, 2 * g, None))
    slopes = wg.autograd.grad(function.apply(x, z=z, scale=3.0).sum(), (x, z))
    assert [each.tolist() for each in slopes] == [[1.0], [2.0]]


def test_setup_context_sees_defaults() -> None:
    def run(lib: Any) -> tuple[Any, Any]:
        def setup_context(ctx, inputs, output):
            x, ctx.power = inputs
            ctx.save_for_backward(x, output)

        function = made(
            lib,
            lambda x, power=3: x**power,
            lambda ctx, g: (g * ctx.power * ctx.saved_tensors[1] / ctx.saved_tensors[0], None),
            setup_context=staticmethod(setup_context),
        )
        x = lib.tensor([2.0], requires_grad=True)
        (slope,) = lib.autograd.grad(function.apply(x), x, create_graph=True)
        (curvature,) = lib.autograd.grad(slope, x)
        return slope.tolist(), curvature.tolist()

    assert run(wg) == run(torch) == ([12.0], [12.0])


def test_missing_gradients_are_zeros_or_none() -> None:
    def run(lib: Any, materialize: bool) -> Any:
        received = []

        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            return x * 2, x * 3

        def backward(ctx, first, second):
            received.append(second if second is None else second.tolist())
            return first * 2

        x = lib.tensor([1.0], requires_grad=True)
        made(lib, forward, backward).apply(x)[0].sum().backward()
        return received

    assert run(wg, True) == run(torch, True) == [[0.0]]
    assert run(wg, False) == run(torch, False) == [None]


def test_saved_tensors_are_checked_when_they_are_used() -> None:
    x = leaf(1.0, 2.0)
    h = x * 1
    y = Square.apply(h)
    h.add_(1)
    with pytest.raises(RuntimeError, match="SquareBackward saved 'x'"):
        y.sum().backward()

    unused = made(wg, lambda ctx, x: ctx.save_for_backward(x) or x * 2, lambda ctx, g: 2 * g)
    h = x * 1
    y = unused.apply(h)
    h.add_(1)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_a_second_backward_needs_what_the_first_freed() -> None:
    x = leaf(1.0)
    y = Square.apply(x)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="trying to backward through the graph a second time"):
        y.sum().backward()
    saves_nothing = made(wg, lambda ctx, x: x * 2, lambda ctx, g: 2 * g).apply(x)
    for _ in range(2):
        saves_nothing.sum().backward()


def test_gradients_may_have_any_strides() -> None:
    x = wg.tensor(np.arange(6.0).reshape(2, 3), requires_grad=True)
    transposing = made(wg, lambda ctx, x: x.mT.clone(), lambda ctx, g: g.mT)
    (transposing.apply(x) * wg.arange(6.0, dtype=wg.float64).view(3, 2)).sum().backward()
    assert x.grad.tolist() == [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]
    assert x.grad.is_contiguous()


def test_incoming_gradients_are_not_for_writing() -> None:
    """The array may be on its way to other nodes as well."""
    writing = made(wg, lambda ctx, x: x * 1, lambda ctx, g: g.mul_(2))
    x = leaf(1.0)
    h = x * 1
    with pytest.raises(RuntimeError, match="read-only"):
        (writing.apply(h) + h).sum().backward()


def test_a_gradient_handed_through_belongs_to_the_caller() -> None:
    for backward in (lambda ctx, g: g, lambda ctx, g: g.view(-1)):
        x = leaf(1.0, 2.0)
        y = made(wg, lambda ctx, x: x * 1, backward).apply(x)
        (slope,) = wg.autograd.grad(y.sum(), x, create_graph=True)
        with wg.no_grad():
            slope.add_(1)
        y.sum().backward()
        assert slope.tolist() == [2.0, 2.0]
        assert x.grad.tolist() == [1.0, 1.0]


def test_an_exception_of_the_users_stays_what_it_is() -> None:
    def backward(ctx, incoming):
        raise KeyError("mine")

    x = leaf(1.0)
    with pytest.raises(KeyError, match="mine") as raised:
        made(wg, lambda ctx, x: x * 1, backward).apply(x).sum().backward()
    assert "in F.backward, for F.apply at" in raised.value.__notes__[0]
    assert x.grad is None


def test_attributes_of_ctx_are_connected_like_saved_tensors() -> None:
    """Arguments and outputs, direct or inside containers, have their history in backward."""

    def forward(ctx, x):
        y = x.exp()
        ctx.x, ctx.nested, ctx.label = x, {"y": [y, 1]}, "exp"
        return y

    def backward(ctx, incoming):
        assert ctx.label == "exp"
        ctx.visits = getattr(ctx, "visits", 0) + 1
        return incoming * ctx.nested["y"][0] * (1 + 0 * ctx.x)

    x = leaf(0.5)
    y = made(wg, forward, backward).apply(x)
    (slope,) = wg.autograd.grad(y, x, create_graph=True)
    (curvature,) = wg.autograd.grad(slope, x, create_graph=True)
    (third,) = wg.autograd.grad(curvature, x)
    np.testing.assert_allclose([slope.item(), curvature.item(), third.item()], np.exp(0.5))
    assert y.grad_fn.visits == 3
