"""What is known of the values in a graph is what they were; nothing is guessed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import whygrad
from tests.conformance.harness import every_sample, whygrad_side
from tests.why.asking import ask
from whygrad import tensor
from whygrad.ops.define import Op
from whygrad.ops.samples import Call
from whygrad.tensor import Tensor
from whygrad.tensor.graph.reach import reachable
from whygrad.why.nan.values import Values


def values_of(*roots: Tensor) -> Values:
    return Values(reachable([root._node for root in roots]))


def results(root: Tensor) -> dict[str, Any]:
    """What is known of the result of each op, by its name."""
    return {call.node.plan.op.name: call.outputs[0] for call in values_of(root).calls()}


@every_sample(lambda op: op.differentiable and op.name != "move")
@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_known_values_are_right(op: Op, call: Call, dtype: str) -> None:
    side = whygrad_side(call, dtype)
    try:
        outputs = side.run(op.public if op.public_name else op.call)
    except (RuntimeError, NotImplementedError, TypeError, ValueError):
        pytest.skip("not for half precision")
    recorded = [
        each
        for each in outputs
        if isinstance(each, Tensor) and each.grad_fn is not None and type(each._array) is np.ndarray
    ]
    if not recorded:
        return
    actual = {(each._node, each._slot): each._array for each in recorded}
    for call in values_of(*recorded).calls():
        for slot, array in enumerate(call.outputs):
            if array is not None and (call.node, slot) in actual:
                np.testing.assert_array_equal(array, actual[call.node, slot])


def test_a_network_is_known_throughout() -> None:
    x = whygrad.randn(5, 3)
    weight = whygrad.randn(3, 4, requires_grad=True)
    bias = whygrad.zeros(4, requires_grad=True)
    hidden = (x @ weight + bias).relu()
    loss = -(hidden.softmax(1) + 1e-8).log().mean()
    known = results(loss)
    assert all(each is not None for each in known.values()), known
    np.testing.assert_array_equal(known["neg"], loss.numpy(force=True))


def test_numbers_in_the_source_are_read() -> None:
    found = ask(
        """
        x = tensor([1.0, 2.0], requires_grad=True)
        y = x + 1.5
        z = 2.0 - y
        """
    )
    assert results(found["z"])["sub"].tolist() == [-0.5, -1.5]


@pytest.mark.parametrize("line", ["y = x + c", "y = x + number", "y = x.add(1.0)", "y = c - x"])
def test_constants_that_were_not_kept_are_unknown(line: str) -> None:
    found = ask(
        f"""
        x = tensor([1.0, 2.0], requires_grad=True)
        c, number = tensor([3.0, 4.0]), 1.5
        {line}
        """
    )
    (array,) = results(found["y"]).values()
    assert array is None


def test_a_leaf_that_was_written_to_since_is_unknown() -> None:
    x = tensor([1.0, 2.0], requires_grad=True)
    y = x + 1.0
    assert values_of(y).of(x._node) is not None
    with whygrad.no_grad():
        x.fill_(float("nan"))
    assert values_of(y).of(x._node) is None
    z = x * x  # saves x as it is now
    assert values_of(z).of(x._node) is not None


def test_saved_values_that_were_overwritten_are_unknown() -> None:
    x = tensor([1.0, 2.0], requires_grad=True)
    h = x.exp()
    y = h * 2
    with whygrad.no_grad():
        h.zero_()
    assert results(y)["exp"] is None or results(y)["exp"].tolist() != [0.0, 0.0]


def test_what_others_keep_is_not_fetched() -> None:
    fetched: list[Any] = []
    with whygrad.autograd.graph.saved_tensors_hooks(lambda t: t, fetched.append):
        x = tensor([1.0, 2.0], requires_grad=True)
        y = x.sigmoid()
    assert results(y.sum())["sigmoid"] is not None  # computed from the leaf
    assert not fetched


def test_computed_values_are_let_go_after_their_last_use() -> None:
    x = tensor([1.0, 2.0], requires_grad=True)
    y = x
    for _ in range(10):
        y = -y
    values = values_of(y)
    for _ in values.calls():
        assert len(values._kept) <= 4
