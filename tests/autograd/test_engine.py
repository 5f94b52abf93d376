"""The reverse walk: results, order, accumulation, and every refusal with its words."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np
import pytest

import whygrad as wg


def leaf(*values: float) -> wg.Tensor:
    return wg.tensor(list(values), dtype=wg.float64, requires_grad=True)


def scalar(value: float) -> wg.Tensor:
    return wg.tensor(value, dtype=wg.float64, requires_grad=True)


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


def test_no_inputs_at_all() -> None:
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match=r"grad\(inputs=\[\]\)\n.*'inputs' is empty"):
        wg.autograd.grad(x * 2, [])
    with pytest.raises(RuntimeError, match=r"backward\(inputs=\[\]\)\n.*'inputs' is empty"):
        (x * 2).backward(inputs=[])


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


def test_unused_inputs() -> None:
    x, y = leaf(1.0), leaf(2.0)
    with pytest.raises(RuntimeError, match=r"inputs\[1\] is float64\[1\][\s\S]*allow_unused=True"):
        wg.autograd.grad((x * 2).sum(), (x, y))
    gx, gy = wg.autograd.grad((x * 2).sum(), (x, y), allow_unused=True)
    assert gx.tolist() == [2.0]
    assert gy is None
    _, zero = wg.autograd.grad((x * 2).sum(), (x, y), materialize_grads=True)
    assert zero.tolist() == [0.0]


def test_non_scalar_without_gradient() -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError) as error:
        (x * 2).backward()
    text = str(error.value)
    assert "grad can be implicitly created only for scalar outputs" in text
    assert "2 elements" in text
    assert "y.sum().backward()" in text


def test_wrong_gradient_shape() -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match=r"float64\[2\] with gradient float64\[3\]") as error:
        (x * 2).backward(wg.ones(3, dtype=wg.float64))
    assert "shape (2,)" in str(error.value)


def test_nothing_requires_grad() -> None:
    with pytest.raises(RuntimeError, match="does not require grad and has no grad_fn"):
        (wg.tensor([1.0]) * 2).sum().backward()


def test_second_backward_names_the_op_and_both_lines() -> None:
    x = leaf(1.0, 2.0)
    h = x * x
    y = h.sum()
    y.backward()  # the first
    with pytest.raises(RuntimeError) as error:
        y.backward()
    text = str(error.value)
    assert "MulBackward" in text
    assert "h = x * x" in text
    assert "y.backward()  # the first" in text
    assert "retain_graph=True" in text
    assert x.grad.tolist() == [2.0, 4.0]


def test_retain_graph_allows_it() -> None:
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0, 8.0]


def test_a_graph_that_saved_nothing_runs_twice() -> None:
    x = leaf(1.0, 2.0)
    y = (x + 1).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_failed_backward_changes_no_gradient() -> None:
    early, late = leaf(1.0), leaf(2.0)
    h = early * 2
    product = h * h
    y = (product + late).sum()
    h.add_(1)
    with pytest.raises(RuntimeError, match="inplace operation"):
        y.backward()
    assert early.grad is None
    assert late.grad is None


def test_saved_value_overwritten_names_both_ops_and_lines() -> None:
    x = leaf(1.0, 2.0)
    h = x * 2
    y = (h * h).sum()
    h.mul_(3)
    with pytest.raises(RuntimeError) as error:
        y.backward()
    text = str(error.value)
    assert "MulBackward saved" in text
    assert "y = (h * h).sum()" in text
    assert "mul_ wrote" in text
    assert "h.mul_(3)" in text
    assert "version 0, now at version 1" in text
    assert "clone()" in text
    assert x.grad is None


def test_write_between_first_and_second_order_is_noticed() -> None:
    x = leaf(1.0, 2.0)
    (first,) = wg.autograd.grad((x**3).sum(), x, create_graph=True)
    with wg.no_grad():
        x.mul_(10)  # what the second order needs
    with pytest.raises(RuntimeError, match="modified by an inplace operation: mul_") as caught:
        first.sum().backward()
    assert "what the second order needs" in str(caught.value)


def test_leaf_in_place_names_both_lines() -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError) as error:
        x.add_(1)
    text = str(error.value)
    assert "a leaf Variable that requires grad is being used in an in-place operation" in text
    assert "x.add_(1)" in text
    assert "requires_grad=True" in text
    assert "no_grad" in text
    assert x.tolist() == [1.0, 2.0]
    assert x._version == 0


def test_leaf_in_place_without_grad_is_fine() -> None:
    x = leaf(1.0, 2.0)
    with wg.no_grad():
        x -= 0.5
    assert x.tolist() == [0.5, 1.5]
    assert x.requires_grad
    assert x._version == 1


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


def test_saved_is_an_error_after_release() -> None:
    x = leaf(1.0)
    y = (x * x).sum()
    node = y.grad_fn.next_functions[0][0]
    y.backward()
    with pytest.raises(RuntimeError, match="freed by the backward"):
        _ = node.saved


def test_wrong_rules_are_named() -> None:
    from whygrad.ops.define import Op, define, table

    def declare(name: str, rule: Any) -> Op:
        table.pop(name, None)
        return define(f"{name}(x)", "y = x", forward=lambda x: x * 1, vjp={"x": rule}, method=False)

    x = leaf(1.0, 2.0)
    try:
        bad_shape = declare("badly_shaped", lambda xp, incoming: incoming[:1].repeat(5))
        with pytest.raises(RuntimeError, match=r"BadlyShapedBackward[\s\S]*shape \(5,\)"):
            bad_shape.call(x).sum().backward()
        bad_dtype = declare("badly_typed", lambda xp, incoming: incoming.astype("float32"))
        with pytest.raises(RuntimeError, match=r"BadlyTypedBackward[\s\S]*float32 gradient"):
            bad_dtype.call(x).sum().backward()
        raising = declare("raising", lambda xp, incoming: 1 / 0)
        with pytest.raises(RuntimeError, match=r"RaisingBackward[\s\S]*ZeroDivisionError"):
            raising.call(x).sum().backward()
    finally:
        for name in ("badly_shaped", "badly_typed", "raising"):
            table.pop(name, None)


def test_grad_mode_is_per_thread() -> None:
    seen = []
    with wg.no_grad():
        worker = threading.Thread(target=lambda: seen.append(wg.is_grad_enabled()))
        worker.start()
        worker.join()
        assert not wg.is_grad_enabled()
    assert seen == [True]
    assert wg.is_grad_enabled()


def test_backward_in_threads() -> None:
    x = leaf(1.0, 2.0)

    def work(results: list[Any]) -> None:
        for _ in range(200):
            (g,) = wg.autograd.grad((x * x * x).sum(), x)
            results.append(g.tolist())

    results: list[Any] = []
    workers = [threading.Thread(target=work, args=(results,)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == [[3.0, 12.0]] * 800


def test_a_long_chain_runs_and_is_freed() -> None:
    x = leaf(1.0)
    y = x
    for _ in range(1_000_000):
        y = y * 1.0
    y.sum().backward()
    assert x.grad.tolist() == [1.0]
    del y


def test_no_cycles() -> None:
    """With the collector off, a step leaves nothing behind."""
    import weakref

    gc.collect()
    gc.disable()
    try:
        x = leaf(1.0, 2.0)
        h = x * 2
        y = (h.exp() * h).sum()
        watched = [weakref.ref(each) for each in (h, y, y.grad_fn, h.grad_fn)]
        (g,) = wg.autograd.grad(y, x, create_graph=True)
        watched += [weakref.ref(g), weakref.ref(g.grad_fn)]
        g.sum().backward()
        del h, y, g
        assert [ref() for ref in watched] == [None] * len(watched)
    finally:
        gc.enable()


def test_create_graph_gradient_makes_no_cycle() -> None:
    import weakref

    gc.collect()
    gc.disable()
    try:
        x = leaf(1.0, 2.0)
        (x * x * x).sum().backward(create_graph=True)
        watched = weakref.ref(x.grad)
        node = weakref.ref(x.grad.grad_fn)
        del x
        assert watched() is None
        assert node() is None
    finally:
        gc.enable()


def test_overwritten_constant_operand_is_noticed() -> None:
    x, mask = leaf(1.0, 2.0), wg.tensor([1.0, 0.0], dtype=wg.float64)
    y = (x * mask).sum()
    mask.fill_(5.0)
    with pytest.raises(RuntimeError, match="fill_ wrote to this memory"):
        y.backward()


def test_numpy_operand_is_a_constant() -> None:
    x, array = leaf(1.0, 2.0), np.array([3.0, 4.0])
    y = (x * array).sum()
    array[:] = 100
    y.backward()
    assert x.grad.tolist() == [3.0, 4.0]


def test_threads_share_one_version_counter() -> None:
    def look(tensor: wg.Tensor, found: list[Any]) -> None:
        found.append(tensor._storage)

    for _ in range(200):
        x, found = wg.ones(2), []
        workers = [threading.Thread(target=look, args=(x, found)) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert len(set(map(id, found))) == 1


@pytest.mark.parametrize(
    ("call", "cause"),
    [
        (lambda x: wg.autograd.grad("loss", x), "the outputs must be tensors, not str"),
        (
            lambda x: wg.autograd.grad(x.sum(), [x, None]),
            "the inputs must be tensors, not NoneType",
        ),
        (lambda x: wg.autograd.backward(3.0), "the outputs must be tensors, not float"),
        (lambda x: wg.autograd.backward(x.sum(), inputs=5), "the inputs must be tensors, not int"),
    ],
)
def test_only_tensors_have_gradients(call: Any, cause: str) -> None:
    with pytest.raises(TypeError, match=f"cause: {cause}"):
        call(wg.ones(2, requires_grad=True))
