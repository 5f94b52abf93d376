"""What backward refuses, and in which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import whygrad as wg
from tests.autograd.tensors import leaf


def test_no_inputs_at_all() -> None:
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match=r"grad\(inputs=\[\]\)\n.*'inputs' is empty"):
        wg.autograd.grad(x * 2, [])
    with pytest.raises(RuntimeError, match=r"backward\(inputs=\[\]\)\n.*'inputs' is empty"):
        (x * 2).backward(inputs=[])


def test_unused_inputs() -> None:
    x, y = leaf(1.0), leaf(2.0)
    with pytest.raises(RuntimeError, match=r"inputs\[1\] is float64\[1\][\s\S]*allow_unused=True"):
        wg.autograd.grad((x * 2).sum(), (x, y))
    gx, gy = wg.autograd.grad((x * 2).sum(), (x, y), allow_unused=True)
    assert gx.tolist() == [2.0]
    assert gy is None
    _, zero = wg.autograd.grad((x * 2).sum(), (x, y), materialize_grads=True)
    assert zero.tolist() == [0.0]
    assert not zero.requires_grad
    _, zero = wg.autograd.grad((x * 2).sum(), (x, y), materialize_grads=True, create_graph=True)
    assert zero.requires_grad  # so that it can be differentiated like the others


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
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
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


def test_overwritten_constant_operand_is_noticed() -> None:
    x, mask = leaf(1.0, 2.0), wg.tensor([1.0, 0.0], dtype=wg.float64)
    y = (x * mask).sum()
    mask.fill_(5.0)
    with pytest.raises(RuntimeError, match="fill_ wrote to this memory"):
        y.backward()


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


def test_overwritten_by_an_assignment() -> None:
    x = leaf(1.0, 2.0)
    h = x * 2
    y = (h * h).sum()
    h[0] = 0
    with pytest.raises(RuntimeError, match=r"__setitem__ wrote[\s\S]*whygrad.where\(\)"):
        y.backward()


def test_hidden_write_does_not_reach_a_saved_result() -> None:
    """Through ``.data`` no version counter notices; the saved result is a copy of its own."""
    x = leaf(0.3, -1.2)
    y = x * 1
    alias = y.data
    y.sigmoid_()
    kept = y.clone()
    alias.neg_()
    kept.sum().backward()
    sigmoid = 1 / (1 + np.exp(-x.detach().numpy()))
    np.testing.assert_allclose(x.grad.numpy(), sigmoid * (1 - sigmoid))


def test_overwritten_through_data() -> None:
    h = leaf(1.0, 2.0) * 2
    y = (h * h).sum()
    h.data.mul_(3)
    with pytest.raises(
        RuntimeError, match=r"\.data\.mul_ wrote[\s\S]*write to a clone\(\): \.data"
    ):
        y.backward()


def test_overwritten_by_another_backward() -> None:
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x * x).sum().backward()
    y = (x.grad * w).sum()
    (x * 3).sum().backward()
    with pytest.raises(RuntimeError, match=r"backward wrote[\s\S]*it is a \.grad: clone\(\) it"):
        y.backward()


def test_a_gradient_that_is_needed_may_be_added_to_where_mutation_is_allowed() -> None:
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x * x).sum().backward()
    with wg.autograd.graph.allow_mutation_on_saved_tensors():
        y = (x.grad * w).sum()
    (x * 3).sum().backward()
    y.backward()
    assert w.grad.tolist() == [2.0, 4.0]
