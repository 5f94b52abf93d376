"""What a function's class may look like: inherited, with other names, changed later."""

from __future__ import annotations

from typing import Any

import pytest

import whygrad as wg
from tests.autograd.custom.functions import Square, made
from tests.autograd.tensors import leaf
from whygrad.autograd import Function
from whygrad.autograd.function import once_differentiable


def test_vjp_is_another_name_of_backward() -> None:
    named = made(wg, lambda ctx, x: x * 2, vjp=staticmethod(lambda ctx, g: 2 * g))
    x = leaf(1.0)
    named.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0]


def test_a_class_inherits_from_another() -> None:
    class Quadruple(Square):
        @staticmethod
        def forward(ctx, x):
            return 4 * Square.forward(ctx, x)

        @staticmethod
        def backward(ctx, incoming):
            return 4 * Square.backward(ctx, incoming)

    x = leaf(3.0)
    Square.apply(x)
    y = Quadruple.apply(x)
    assert y.grad_fn.name() == "QuadrupleBackward"
    y.sum().backward()
    assert x.grad.tolist() == [24.0]


def test_once_differentiable_refuses_a_second_time() -> None:
    """Also where PyTorch does not notice: the incoming gradient is a constant there."""

    class Once(Square):
        @staticmethod
        @once_differentiable
        def backward(ctx, incoming):
            assert not wg.is_grad_enabled()
            return Square.backward(ctx, incoming)

    x = leaf(3.0)
    Once.apply(x).sum().backward()
    assert x.grad.tolist() == [6.0]
    (slope,) = wg.autograd.grad((Once.apply(x) * x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="marked with @once_differentiable") as raised:
        wg.autograd.grad(slope, x)
    assert "def backward(ctx, incoming):" in str(raised.value)


def test_once_differentiable_refuses_tangents() -> None:
    class Once(Square):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_forward(x)
            return Square.forward(ctx, x)

        @staticmethod
        def jvp(ctx, tangent):
            return 2 * ctx.saved_tensors[0] * tangent

        @staticmethod
        @once_differentiable
        def backward(ctx, incoming):
            return Square.backward(ctx, incoming)

    with pytest.raises(RuntimeError, match="marked with @once_differentiable"):
        wg.func.hvp(lambda x: Once.apply(x).sum(), (leaf(1.0),), (wg.ones(1, dtype=wg.float64),))


class Doubled(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, incoming: Any) -> Any:
        return incoming * 2

    def __init_subclass__(cls) -> None:
        """A user's own, which does not ask the one of Function."""


def test_a_class_answers_for_itself() -> None:
    class Tripled(Doubled):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 3

        @staticmethod
        def backward(ctx: Any, incoming: Any) -> Any:
            return incoming * 3

    x = leaf(1.0)
    Doubled.apply(x)
    y = Tripled.apply(x)
    y.sum().backward()
    assert (y.tolist(), x.grad.tolist()) == ([3.0], [3.0])


def test_a_method_can_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    x = leaf(1.0)
    Doubled.apply(x)
    monkeypatch.setattr(Doubled, "backward", staticmethod(lambda ctx, incoming: incoming * 10))
    Doubled.apply(x).sum().backward()
    assert x.grad.tolist() == [10.0]
