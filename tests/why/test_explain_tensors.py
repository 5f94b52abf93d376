"""Gradients of tensors, contribution by contribution."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import whygrad
from tests.why.programs import run, transcript
from whygrad.autograd import Function, grad
from whygrad.tensor import Tensor
from whygrad.utils.checkpoint import checkpoint


def randn(*shape: int) -> Tensor:
    return whygrad.randn(size=shape, dtype=whygrad.float64, requires_grad=True)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    whygrad.manual_seed(0)


def assert_adds_up(loss: Tensor, *inputs: Tensor) -> None:
    for x, expected in zip(inputs, grad(loss, inputs, retain_graph=True), strict=True):
        assert expected is not None
        explanation = whygrad.explain(loss, wrt=x)
        total = sum(each.value for each in explanation.contributions)
        np.testing.assert_allclose(total, expected.numpy(), 1e-12, 1e-15)
        np.testing.assert_array_equal(explanation.gradient, expected.numpy())
        assert explanation.residual <= 1e-12 * max(1.0, np.abs(expected.numpy()).max())


def test_a_network_that_uses_its_weights_twice() -> None:
    x, w, b, v = randn(5, 4), randn(4, 4), randn(4), randn(4, 1)
    h = whygrad.tanh(x @ w + b)
    h = whygrad.tanh(h @ w + b)
    loss = (h @ v).square().mean() + 0.01 * (w * w).sum()
    assert_adds_up(loss, x, w, b, v, h)
    assert [each.op for each in whygrad.explain(loss, wrt=w).contributions] == [
        "matmul",
        "matmul",
        "mul",
        "mul",
    ]


def test_attention() -> None:
    x, q, k, v = randn(6, 8), randn(8, 8), randn(8, 8), randn(8, 8)
    weights = whygrad.softmax((x @ q) @ (x @ k).transpose(0, 1) / 8**0.5, dim=-1)
    out = weights @ (x @ v) + x
    loss = (out * out).mean()
    assert_adds_up(loss, x, q, k, v, weights, out)
    explanation = whygrad.explain(loss, wrt=x)
    assert [each.name for each in explanation.contributions] == [
        "x @ q",
        "x @ k",
        "x @ v",
        "out",
    ]
    assert sum(each.share or 0.0 for each in explanation.contributions) == pytest.approx(1.0)


def test_share_and_cosine() -> None:
    x = whygrad.tensor([1.0, 1.0], requires_grad=True)
    along, against = whygrad.tensor([3.0, 0.0]), whygrad.tensor([-1.0, 2.0])
    explanation = whygrad.explain((x * along).sum() + (x * against).sum(), wrt=x)
    first, second = explanation.contributions
    # the gradient is (2, 2)
    assert first.share == pytest.approx(6 / 8)
    assert second.share == pytest.approx(2 / 8)
    assert first.cosine == pytest.approx(1 / np.sqrt(2))
    assert second.norm == pytest.approx(np.sqrt(5))


BROADCAST = """
    hidden = x @ w + b
    loss = hidden.sum() + (b * scale).sum()
    explanation = whygrad.explain(loss, wrt=b)
"""


def test_broadcasting_is_spelled_out() -> None:
    arguments = {"x": whygrad.ones(4, 2), "w": whygrad.ones(2, 3), "scale": whygrad.ones(2, 1, 1)}
    b = whygrad.ones(3, requires_grad=True)
    assert transcript(BROADCAST, "layer.py", b=b, **arguments) == dedent(
        """\
        dloss/db has shape (3,), norm 10.39: the sum of 2 contributions

          through    used as    norm   share  cosine  line
          hidden     b of add  6.928   66.7%   1.000  layer.py:1
            broadcast, so summed over axis 0 of (4, 3)
          b * scale  a of mul  3.464   33.3%   1.000  layer.py:2
            broadcast, so summed over axes 0 and 1 of (2, 1, 3)
          sum                  10.39  100.0%
          share: of the gradient, by projection on it; below 0 pulls the other way

        layer.py:1: hidden = x @ w + b
        layer.py:2: loss = hidden.sum() + (b * scale).sum()"""
    )


def test_a_stretched_axis() -> None:
    x = whygrad.ones(3, 1, requires_grad=True)
    y = (x + whygrad.ones(3, 4)).sum()
    (use,) = whygrad.explain(y, wrt=x).contributions
    assert (use.summed, use.stretched) == ((1,), (3, 4))
    assert use.value.shape == (3, 1)


def test_one_element_and_where_it_came_from() -> None:
    x = whygrad.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    w = whygrad.tensor([[0.5, 1.0], [1.5, 2.0]], requires_grad=True)
    text = transcript(
        """
        y = x @ w
        loss = (y * y).sum() / 2
        explanation = whygrad.explain(loss, wrt=w, index=(1, -2))
        """,
        "element.py",
        x=x,
        w=w,
    )
    assert text == dedent(
        """\
        (dloss/dw)[1, 0] = 106: from one contribution

          through  used as      sent back   share  line
          y        b of matmul        106  100.0%  element.py:1
            from 3 of 6 elements of the gradient of y, times their slope:
              [2, 0]: 11.5 × 6 = 69
              [1, 0]: 7.5 × 4 = 30
              [0, 0]: 3.5 × 2 = 7

        element.py:1: y = x @ w"""
    )


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.sum(0),
        lambda x: x.softmax(-1),
        lambda x: x.cumsum(1),
        lambda x: x @ x.transpose(0, 1),
        lambda x: x.expand(2, 4, 3),
        lambda x: x[:, [0, 0, 2]],
        lambda x: whygrad.cat([x, 2 * x]),
        lambda x: x.relu(),
        lambda x: x.max(),
        lambda x: x.logsumexp(1),
    ],
)
def test_terms_add_up_to_the_element(function: Any) -> None:
    x = randn(4, 3)
    loss = function(x).square().sum()
    explanation = whygrad.explain(loss, wrt=x, index=(2, 1))
    (gradient,) = grad(loss, x)
    assert gradient is not None
    assert sum(each.element for each in explanation.contributions) == pytest.approx(
        gradient[2, 1].item()
    )
    for use in explanation.contributions:
        assert use.terms is not None
        assert use.terms.sum == pytest.approx(use.element)
        assert use.terms.count <= use.terms.of


def test_an_op_with_several_outputs_sends_one_contribution() -> None:
    x = randn(6)
    first, second = x.chunk(2)
    loss = (first * second).sum()
    assert_adds_up(loss, x, first, second)
    explanation = whygrad.explain(loss, wrt=x)
    assert [each.name for each in explanation.contributions] == ["x.chunk(2)"]
    assert [box.name for box in explanation.flow.boxes] == [
        "x",
        "x.chunk(2)",
        "first",
        "second",
        "first * second",
        "loss",
    ]


def test_one_output_of_several() -> None:
    x = randn(2, 3)
    values, _ = x.max(dim=1)
    explanation = whygrad.explain(values.sum(), wrt=x)
    assert [each.name for each in explanation.contributions] == ["values"]


def test_a_result_with_several_elements_needs_a_gradient() -> None:
    x = randn(3)
    y = x * x
    explanation = whygrad.explain(y, wrt=x, gradient=whygrad.tensor([1.0, 0.0, 2.0]))
    np.testing.assert_allclose(explanation.gradient, 2 * x.detach().numpy() * [1, 0, 2])


def test_the_result_itself() -> None:
    x = randn(3)
    y = (x * x).sum()
    explanation = whygrad.explain(y, wrt=y)
    assert str(explanation) == "dy/dy = 1: it is where backward starts"
    assert explanation.contributions == ()
    assert (explanation.total, explanation.residual) == (1.0, 0.0)


class Scaled(Function):
    calls = 0

    @staticmethod
    def forward(ctx: Any, x: Any, factor: float) -> Any:
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx: Any, incoming: Any) -> Any:
        Scaled.calls += 1
        return incoming * ctx.factor, None


@pytest.mark.parametrize("shape", [(), (3,)])
def test_custom_functions_run_once(shape: tuple[int, ...]) -> None:
    x = randn(*shape)
    loss = (Scaled.apply(x, 3.0) * x).sum()
    Scaled.calls = 0
    explanation = whygrad.explain(loss, wrt=x, index=(0,) * len(shape))
    assert Scaled.calls == 1
    assert [each.op for each in explanation.contributions] == ["Scaled", "mul"]
    assert_adds_up(loss, x)


def test_checkpointed_regions() -> None:
    x, w = randn(3, 4), randn(4, 4)

    def region(x: Tensor) -> Tensor:
        return whygrad.dropout(whygrad.tanh(x @ w), 0.5, True) @ w

    loss = checkpoint(region, x, use_reentrant=False).sum()
    before = whygrad.get_rng_state().numpy().copy()
    assert_adds_up(loss, x, w)
    np.testing.assert_array_equal(whygrad.get_rng_state().numpy(), before)


def test_sparse_gradients_are_added_up_as_dense_ones() -> None:
    x = whygrad.eye(3, dtype=whygrad.float64).to_sparse().requires_grad_()
    dense = randn(3, 2)
    loss = (whygrad.sparse.mm(x, dense) ** 2).sum()
    explanation = whygrad.explain(loss, wrt=x)
    assert explanation.gradient.shape == (3, 3)
    assert explanation.residual == 0.0


def test_half_precision() -> None:
    x = whygrad.randn(3, 4, dtype=whygrad.float16, requires_grad=True)
    explanation = whygrad.explain((x * x + x).sum(), wrt=x)
    assert explanation.gradient.dtype == np.float16
    assert explanation.residual <= 2e-3


def test_contributions_that_cancel() -> None:
    x = randn(3)
    explanation = whygrad.explain((x - x).sum(), wrt=x)
    assert [each.share for each in explanation.contributions] == [None, None]
    assert explanation.notes == (
        "the contributions cancel: their sum is exactly zero, so nothing has a share of it",
    )


def test_nothing_is_said_to_cancel_where_all_is_zero() -> None:
    x = randn(3)
    assert whygrad.explain((x * 0 + x * 0).sum(), wrt=x).notes == ()


def test_nan_is_shown_as_it_is() -> None:
    x = whygrad.zeros(2, requires_grad=True)
    explanation = whygrad.explain((x.log() * 0).sum() + x.sum(), wrt=x, index=0)
    assert "nan" in str(explanation)
    assert {each.share for each in explanation.contributions} == {None}


def test_only_what_lies_between_is_walked() -> None:
    """A side branch whose values are gone does not matter."""
    scope = run(
        """
        trunk = x.exp()
        trunk.sum().backward()
        head = (trunk.detach() * w).sum()
        explanation = whygrad.explain(head + (trunk * 1).sum() , wrt=w)
        """,
        x=randn(3),
        w=randn(3),
    )
    assert [each.name for each in scope["explanation"].contributions] == ["trunk.detach() * w"]


def test_more_uses_than_rows() -> None:
    x = randn(3)
    loss = sum(((x * number).sum() for number in range(1, 31)), start=whygrad.zeros(()))
    text = whygrad.explain(loss, wrt=x).text(80)
    assert "the sum of 30 contributions" in text
    left = np.sqrt(3) * sum(range(1, 11))
    assert f"10 smaller ones not shown; the norm of their sum is {left:.4g}" in text


def test_the_steps_of_one_call_are_told_apart() -> None:
    x = randn(3)
    loss = whygrad.nn.functional.tanhshrink(x * x).sum()  # y - tanh(y)
    names = [box.name for box in whygrad.explain(loss, wrt=x).flow.boxes]
    assert names == [
        "x",
        "x * x",
        "tanh in whygrad.nn.functional…ink(x * x)",
        "whygrad.nn.functional…ink(x * x)",
        "loss",
    ]
