"""The reverse walk: results, order and accumulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import whygrad as wg
from tests.autograd.tensors import leaf, scalar


def test_diamond() -> None:
    a, b, c = scalar(2.0), scalar(3.0), scalar(4.0)
    loss = (a * b + c) * (a - c)
    loss.backward()
    assert (a.grad.item(), b.grad.item(), c.grad.item()) == (4.0, -4.0, -12.0)


def test_square_of_a_sum() -> None:
    x, w, b = scalar(2.0), scalar(3.0), scalar(1.0)
    loss = (x * w + b) ** 2
    loss.backward()
    assert loss.item() == 49.0
    assert (x.grad.item(), w.grad.item(), b.grad.item()) == (42.0, 28.0, 14.0)


@pytest.mark.parametrize(
    ("expression", "at", "value", "gradient"),
    [
        (lambda x: x * x + x, 3.0, 12.0, 7.0),
        (lambda a: (a + a) * a, 2.0, 8.0, 8.0),
        (lambda x: (2 * x + 1) ** 3, 1.0, 27.0, 54.0),
    ],
)
def test_reused_values(expression: Any, at: float, value: float, gradient: float) -> None:
    x = scalar(at)
    y = expression(x)
    y.backward()
    assert (y.item(), x.grad.item()) == (value, gradient)


def test_broadcast_gradient_is_summed() -> None:
    a, b = leaf(1.0, 2.0, 3.0), wg.ones(4, 3, dtype=wg.float64, requires_grad=True)
    (a + b).backward(wg.ones(4, 3, dtype=wg.float64))
    assert a.grad.shape == (3,)
    assert a.grad.tolist() == [4.0, 4.0, 4.0]
    assert b.grad.shape == (4, 3)


def test_gradient_of_sum_is_ones() -> None:
    x = wg.zeros(3, 5, requires_grad=True)
    x.sum().backward()
    assert x.grad.tolist() == [[1.0] * 5] * 3


def test_matmul_gradients_are_matmuls() -> None:
    rng = np.random.default_rng(0)
    a = wg.tensor(rng.normal(size=(2, 3)), requires_grad=True)
    b = wg.tensor(rng.normal(size=(3, 4)), requires_grad=True)
    seed = wg.tensor(rng.normal(size=(2, 4)))
    (a @ b).backward(seed)
    np.testing.assert_allclose(a.grad.numpy(), seed.numpy() @ b.detach().numpy().T)
    np.testing.assert_allclose(b.grad.numpy(), a.detach().numpy().T @ seed.numpy())


def test_two_layer_network_by_hand() -> None:
    rng = np.random.RandomState(42)
    w1, w2 = rng.randn(3, 2) * 0.1, rng.randn(1, 3) * 0.1
    x, target = np.array([[1.0], [2.0]]), np.array([[1.0]])
    W1, W2 = wg.tensor(w1, requires_grad=True), wg.tensor(w2, requires_grad=True)
    X = wg.tensor(x, requires_grad=True)
    prediction = W2 @ (W1 @ X).relu()
    (0.5 * (prediction - wg.tensor(target)) ** 2).sum().backward()
    hidden = np.maximum(w1 @ x, 0)
    upstream = w2 @ hidden - target
    np.testing.assert_allclose(W2.grad.numpy(), upstream @ hidden.T)
    below = (w2.T @ upstream) * (w1 @ x > 0)
    np.testing.assert_allclose(W1.grad.numpy(), below @ x.T)
    np.testing.assert_allclose(X.grad.numpy(), w1.T @ below)


def test_backward_accumulates_into_leaves() -> None:
    x = leaf(1.0, 2.0)
    (x * 3).sum().backward()
    (x * 4).sum().backward()
    assert x.grad.tolist() == [7.0, 7.0]


def test_leaf_gradients_do_not_share_memory() -> None:
    a, b = leaf(1.0), leaf(2.0)
    (a + b).backward(wg.tensor([1.0], dtype=wg.float64))
    a.grad.mul_(10)
    assert b.grad.tolist() == [1.0]


def test_given_gradient_is_not_adopted() -> None:
    x, seed = leaf(1.0, 2.0), wg.ones(2, dtype=wg.float64)
    (x + 0).backward(seed)
    x.grad.mul_(5)
    assert seed.tolist() == [1.0, 1.0]


def test_given_gradients_are_only_read() -> None:
    x, first, second = leaf(1.0, 2.0), wg.ones(2, dtype=wg.float64), wg.ones(2, dtype=wg.float64)
    a = x * 2
    b = a * 3
    wg.autograd.backward([a, b], [first, second], retain_graph=True)
    wg.autograd.backward([b, b], [second, second])
    x.backward(first)
    x.backward(first)
    assert first.tolist() == second.tolist() == [1.0, 1.0]
    assert x.grad.tolist() == [22.0, 22.0]


def test_gradients_with_a_graph_do_not_share_memory() -> None:
    a, b, seed = leaf(1.0), leaf(2.0), wg.ones(1, dtype=wg.float64)
    middle = a + b
    middle.retain_grad()
    middle.backward(seed, create_graph=True)
    (a * 1).backward()
    assert a.grad.tolist() == [2.0]
    assert b.grad.tolist() == middle.grad.tolist() == seed.tolist() == [1.0]


def test_gradient_has_the_memory_order_of_its_leaf() -> None:
    rows = wg.ones(2, 3, requires_grad=True)
    columns = wg.ones(3, 2).t().requires_grad_()
    (wg.ones(4, 3) @ rows.T + (columns * wg.ones(2, 3)).sum()).sum().backward()
    assert rows.grad.stride() == rows.stride() == (3, 1)
    assert columns.grad.stride() == columns.stride() == (1, 2)


def test_accumulating_into_an_expanded_gradient() -> None:
    x = leaf(1.0, 2.0, 3.0)
    x.grad = wg.zeros(1, dtype=wg.float64).expand(3)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0, 6.0]
    x.grad = wg.from_numpy(np.broadcast_to(np.ones(3), (1, 3)))[0]
    (x * x).sum().backward()
    assert x.grad.tolist() == [3.0, 5.0, 7.0]


def test_leaf_as_its_own_root() -> None:
    x = scalar(3.0)
    x.backward()
    assert x.grad.item() == 1.0


def test_grad_returns_and_leaves_grad_alone() -> None:
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    gx, gy = wg.autograd.grad((x * y).sum(), (x, y))
    assert (gx.tolist(), gy.tolist()) == ([3.0, 4.0], [1.0, 2.0])
    assert x.grad is None
    assert y.grad is None


def test_grad_of_interior_tensor() -> None:
    x = leaf(1.0, 2.0)
    h = x * 3
    (g,) = wg.autograd.grad((h * h).sum(), h)
    assert g.tolist() == [6.0, 12.0]


def test_grad_prunes_what_does_not_lead_to_the_inputs() -> None:
    """A rule that would fail is not run when nobody asked for its result."""
    x, w = leaf(1.0), leaf(2.0)
    h = w * 3
    side = h * h
    y = (x * 2 + side).sum()
    h.add_(1)  # ruins the way to w
    (g,) = wg.autograd.grad(y, x, retain_graph=True)
    assert g.tolist() == [2.0]
    with pytest.raises(RuntimeError, match="inplace operation"):
        wg.autograd.grad(y, w)


def test_inputs_argument_fills_only_those() -> None:
    x, y = leaf(1.0), leaf(2.0)
    h = x * y
    (h * h).sum().backward(inputs=[x])
    assert x.grad.tolist() == [8.0]
    assert y.grad is None


def test_inputs_named_twice_or_retained_count_once() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2
    y.retain_grad()
    (y * 3).sum().backward(inputs=[x, x, y])
    assert x.grad.tolist() == [6.0, 6.0]
    assert y.grad.tolist() == [3.0, 3.0]


def test_inputs_from_a_generator() -> None:
    x = leaf(1.0)
    (gradient,) = wg.autograd.grad(x * 2, (each for each in [x]))
    assert gradient.tolist() == [2.0]


def test_several_roots() -> None:
    x = leaf(1.0, 2.0)
    one = wg.ones(2, dtype=wg.float64)
    wg.autograd.backward([x * 2, x * x], [one, one])
    assert x.grad.tolist() == [4.0, 6.0]


def test_create_graph_to_third_order() -> None:
    x = scalar(2.0)
    y = x**4
    (first,) = wg.autograd.grad(y, x, create_graph=True)
    (second,) = wg.autograd.grad(first, x, create_graph=True)
    (third,) = wg.autograd.grad(second, x)
    assert (first.item(), second.item(), third.item()) == (32.0, 48.0, 48.0)


def test_graph_walk() -> None:
    x, w = leaf(1.0, 2.0), wg.tensor([3.0, 4.0], dtype=wg.float64)
    y = (x * w).sum()
    node = y.grad_fn
    assert node.name() == "SumBackward"
    ((product, slot),) = node.next_functions
    assert (product.name(), slot) == ("MulBackward", 0)
    (to_x, _), (to_w, _) = product.next_functions
    assert to_x.name() == "AccumulateGrad"
    assert to_x.variable is x
    assert to_w is None
    assert list(product.saved) == ["b"], "only what the gradient of x needs"
    assert product.where.text == "y = (x * w).sum()"
    assert product.where.expression == "x * w"
    assert product.where.file == __file__
    assert product.sequence_nr < node.sequence_nr


def test_numpy_operand_is_a_constant() -> None:
    x, array = leaf(1.0, 2.0), np.array([3.0, 4.0])
    y = (x * array).sum()
    array[:] = 100
    y.backward()
    assert x.grad.tolist() == [3.0, 4.0]


def test_only_inputs_is_taken_and_changes_nothing() -> None:
    """Gradient penalties of many programs pass it, by name or in its place."""
    for library in (wg, torch):
        x = library.ones(2).requires_grad_()
        unused = library.ones(2).requires_grad_()
        by_name = library.autograd.grad((x * x).sum(), x, only_inputs=True)
        in_place = library.autograd.grad((x * x).sum(), [x, unused], None, None, False, True, True)
        assert by_name[0].tolist() == in_place[0].tolist() == [2.0, 2.0]
        assert in_place[1] is None
        with pytest.warns(FutureWarning, match="only_inputs argument is deprecated"):
            library.autograd.grad((x * x).sum(), x, only_inputs=False)
