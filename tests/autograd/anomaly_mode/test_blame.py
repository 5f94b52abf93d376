"""Who made a NaN or an Inf."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import whygrad as wg
from tests.autograd.anomaly_mode.catching import caught
from tests.autograd.tensors import leaf
from whygrad.autograd import detect_anomaly


def test_producer_forward_not_propagator(watch: Any) -> None:
    x = leaf(-1.0, 4.0)
    hidden = x * 2
    loss = ((hidden.log() + 1) * 3).sum()
    error = caught(loss.backward)
    assert (error.op, error.kind, error.backward) == ("log", "nan", False)
    (element,) = error.elements
    assert element.index == (0,)
    assert element.inputs == {"x": -2.0}
    assert "loss = ((hidden.log() + 1) * 3).sum()" in str(error.where)
    assert x.grad is None


def test_producer_backward_not_propagator(watch: Any) -> None:
    x = leaf(0.0, 4.0)
    error = caught((x * 2).sqrt().exp().sum().backward)
    assert (error.op, error.kind, error.backward) == ("sqrt", "inf", True)
    assert error.node is not None
    (element,) = error.elements
    assert (element.incoming, element.slope, element.value) == (1.0, inf, inf)
    assert x.grad is None


def test_inf_that_turns_into_nan_later(watch: Any) -> None:
    x = leaf(0.0, 4.0)
    error = caught((x * x).sqrt().sum().backward)
    assert (error.op, error.kind) == ("sqrt", "inf")
    assert "Function 'MulBackward0' returned nan values in its 0th output" in str(error)


def test_inf_forward_that_turns_into_nan_later(watch: Any) -> None:
    x = leaf(1000.0, 1.0)
    e = x.exp()
    error = caught((e / e.sum()).sum().backward)
    assert error.op == "exp"
    assert "inf became nan in div(a: float64[2], b: float64[])" in str(error)
    assert "logsumexp" in error.fix


def test_producer_without_a_graph(watch: Any) -> None:
    w = leaf(1.0, 2.0)
    spread = wg.zeros(2).double().std()
    data = wg.ones(2).double() / spread
    error = caught((w * data).sum().backward)
    assert (error.op, error.node) == ("div", None)
    assert error.fix.startswith("keep the divisor away from 0")


def test_in_place_producer(watch: Any) -> None:
    x = leaf(4.0, 1.0)
    hidden = x - 2
    hidden.log_()
    assert caught(hidden.sum().backward).op == "log"


def test_data_that_came_with_nan(watch: Any) -> None:
    x = leaf(nan, 1.0)
    error = caught((x * 2).sum().backward)
    assert error.op is None
    assert "nan values in 1 of 2 elements that no op made" in str(error)
    assert "isfinite().all()" in error.fix


def test_written_on_purpose(watch: Any) -> None:
    x = leaf(1.0, 2.0)
    hidden = x * 1
    hidden[0] = nan
    error = caught(hidden.sum().backward)
    assert "hidden[0] = nan" in str(error.where)


def test_gradient_given_to_backward(watch: Any) -> None:
    x = leaf(1.0, 2.0)
    error = caught(lambda: (x * 2).backward(wg.tensor([nan, 1.0]).double()))
    assert str(error).startswith("the gradient passed to backward() at ")


def test_custom_function(watch: Any) -> None:
    class Inverse(wg.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, incoming: Any) -> Any:
            (x,) = ctx.saved_tensors
            return incoming / x

    error = caught(Inverse.apply(leaf(0.0, 1.0)).sum().backward)
    assert "Function 'InverseBackward0' returned inf values in its 0th output" in str(error)
    assert "[0] inf at x = 0" in str(error)
    assert "Inverse is your own function, and its backward computed it" in str(error)


def test_hook_that_returns_nan(watch: Any) -> None:
    x = leaf(1.0, 2.0)
    hidden = x * 2
    hidden.register_hook(lambda gradient: gradient * nan)
    assert str(caught(hidden.sum().backward)).startswith("a hook on what arrives for MulBackward")


def test_hook_that_repairs(watch: Any) -> None:
    x = leaf(0.0, 4.0)
    hidden = x * 1
    hidden.register_hook(lambda gradient: gradient.nan_to_num(posinf=0.0))
    hidden.sqrt().sum().backward()
    assert x.grad.tolist() == [0.0, 0.25]


def test_mode_switched_on_for_backward_only() -> None:
    x = leaf(0.0, 4.0)
    loss = x.sqrt().sum()
    with detect_anomaly():
        error = caught(loss.backward)
    assert error.op == "sqrt"
    assert "calls:" not in str(error)


def test_calls_lead_to_the_op(watch: Any) -> None:
    def block(x: Any) -> Any:
        return x.log()

    def model(x: Any) -> Any:
        return block(x).mean()

    error = caught(model(leaf(-1.0)).backward)
    assert [where.function.split(".")[-1] for where in error.stack][-2:] == ["model", "block"]
    assert "return block(x).mean()" in str(error)


def test_the_same_tensor_twice(watch: Any) -> None:
    x = leaf(0.0, 2.0)
    y = wg.where(x > 0, x / x, 0.0)
    error = caught(y.sum().backward)
    assert error.op == "div"
    numerator = wg.where(x > 0, x + 1, 1.0)
    error = caught(wg.where(x > 0, numerator / x, 0.0).sum().backward)
    assert "Function 'DivBackward0' returned nan values in its 1th output" in str(error)
    assert "incoming 0 · derivative −inf at a = 1, b = 0 → nan" in str(error)


def test_half_precision_overflow(watch: Any) -> None:
    x = leaf(300.0).half()
    error = caught((x * x).sum().backward)
    assert "beyond 6.55e+04, the largest float16" in str(error)


def test_half_precision_overflow_in_backward(watch: Any) -> None:
    x = wg.tensor([1.0], dtype=wg.float16, requires_grad=True)
    hidden = x * 1
    error = caught(lambda: (hidden * 300).backward(wg.tensor([300.0], dtype=wg.float16)))
    assert error.op == "mul"
    assert "largest float16" in str(error)


def test_sum_of_finite_contributions_overflows(watch: Any) -> None:
    x = wg.tensor([1.0], dtype=wg.float16, requires_grad=True)
    seed = wg.tensor([40000.0], dtype=wg.float16)
    error = caught(lambda: wg.autograd.backward([x * 1, x * 1], [seed, seed]))
    assert "added its gradient to others; the sum is inf" in str(error)


def test_a_rule_that_fails_on_nan(watch: Any) -> None:
    x = wg.eye(2).double().requires_grad_()
    hidden = x * 1
    inverse = wg.linalg.inv(hidden)
    error = caught(lambda: wg.autograd.grad((inverse.sum() * 0).sqrt(), x))
    assert error.op == "sqrt"


def test_large_finite_numbers_are_fine(watch: Any) -> None:
    x = wg.tensor([1e30, -2e30], requires_grad=True)  # whose squares are not finite
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
