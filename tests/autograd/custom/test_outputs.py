"""What comes out of a custom function: fresh tensors, views of arguments, arguments it wrote to."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import whygrad as wg
from tests.autograd.custom.functions import made
from tests.autograd.tensors import leaf
from whygrad.autograd import forward_ad


def test_outputs_of_every_kind() -> None:
    """What is no tensor is handed through; integers and marked outputs have no derivative."""

    def run(lib: Any) -> list[Any]:
        received = []

        def forward(ctx, x):
            marked = x * 3
            ctx.mark_non_differentiable(marked)
            return x * 2, "text", marked, x.argmax(), None

        def backward(ctx, *incoming):
            received.extend(each if each is None else each.tolist() for each in incoming)
            return incoming[0] * 2

        x = lib.tensor([1.0, 2.0], requires_grad=True)
        y, text, marked, place, nothing = made(lib, forward, backward).apply(x)
        y.sum().backward()
        flags = [y.requires_grad, marked.requires_grad, place.requires_grad]
        return [text, nothing, flags, received, x.grad.tolist()]

    assert run(wg) == run(torch)


def test_an_argument_returned_as_it_is_becomes_a_view() -> None:
    def run(lib: Any) -> list[Any]:
        function = made(lib, lambda ctx, x: x, lambda ctx, g: 2 * g)
        x = lib.tensor([1.0], requires_grad=True)
        y = function.apply(x)
        y.sum().backward()
        with lib.no_grad():
            unrecorded = function.apply(x)
        return [y is x, y._base is x, x.grad.tolist(), unrecorded is x, unrecorded.requires_grad]

    assert run(wg) == run(torch) == [False, True, [2.0], False, False]


def test_an_argument_may_be_written_to() -> None:
    """``mark_dirty``: the argument itself is returned, with the function as its history."""

    def run(lib: Any, part: Any) -> list[Any]:
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(3)

        function = made(lib, forward, lambda ctx, g: 5 * g)
        x = lib.tensor([1.0, 2.0, 4.0], requires_grad=True)
        whole = x * 1
        view = whole[:2]
        target = view if part else whole
        result = function.apply(target)
        slopes = [
            lib.autograd.grad(each.sum(), x, retain_graph=True)[0].tolist()
            for each in (whole, view)
        ]
        return [result is target, whole.tolist(), whole._version, slopes]

    assert run(wg, False) == run(torch, False)
    assert run(wg, True) == run(torch, True)


def test_a_written_argument_loses_the_gradient_of_its_old_value() -> None:
    def run(lib: Any) -> list[Any]:
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(3)

        value = lib.tensor([1.0], requires_grad=True) * 1
        value.retain_grad()
        value.backward(retain_graph=True)
        made(lib, forward, lambda ctx, g: 3 * g).apply(value)
        return [value.grad, value.retains_grad]

    assert run(wg) == run(torch) == [None, True]


def test_a_constant_view_of_a_leaf_is_not_written_to() -> None:
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    leaf = wg.ones(3)
    view = leaf[:2]
    leaf.requires_grad_()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        made(wg, forward, lambda ctx, g: 2 * g).apply(view)
    assert leaf.is_leaf
    assert leaf.tolist() == [1.0, 1.0, 1.0]


def test_a_write_through_numpy_counts_when_it_is_marked() -> None:
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.detach().numpy()[:] += 1
        return x

    x = leaf(1.0, 2.0)
    h = x * 1
    y = (h * h).sum()
    made(wg, forward, lambda ctx, g: g).apply(h)
    with pytest.raises(RuntimeError, match=r"F\.forward wrote to this memory"):
        y.backward()


def test_a_dual_argument_may_be_written_to() -> None:
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(3)

    function = made(wg, forward, jvp=staticmethod(lambda ctx, tangent: 3 * tangent))
    with forward_ad.dual_level():
        x = forward_ad.make_dual(wg.tensor([1.0]), wg.tensor([10.0]))
        y = function.apply(x)
        assert y is x
        assert [each.tolist() for each in forward_ad.unpack_dual(x)] == [[3.0], [30.0]]
