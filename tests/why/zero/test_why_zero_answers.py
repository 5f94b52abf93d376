"""What an answer about a zero says, what it refuses, and what asking leaves alone."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import whygrad
from tests.conformance.harness import every_sample, weighted_sum, whygrad_side
from tests.why.asking import ask
from whygrad import tensor, why_zero
from whygrad.ops.define import Op
from whygrad.ops.samples import Call
from whygrad.scalar import Value
from whygrad.tensor import Tensor


def report(program: str) -> str:
    text: str = ask(program)["answer"].report()
    return text


def test_ops_that_share_the_work_are_all_named() -> None:
    found = report(
        """
        w = tensor(2.0, requires_grad=True)
        x = tensor([-1.0, -2.0, -3.0, 4.0])
        mask = tensor([1.0, 1.0, 1.0, 0.0])
        h = (x * w).relu()
        loss = (h * mask).sum()
        answer = why_zero(w, loss)
        """
    )
    assert found == (
        "why_zero(w, loss)\n"
        "  cause: relu is inactive for 3 of 4 elements: its input is not positive there (between "
        "−6 and −2); mul multiplies 1 of 4 elements by mask, which is 0 there\n"
        "  at:    program.py:5: h = (x * w).relu()\n"
        "  fix:   let some inputs be larger: another initialisation, a bias, a smaller learning "
        "rate, or leaky_relu, which passes a little everywhere\n"
        "\n"
        "  what made it zero\n"
        "    relu is inactive for 3 of 4 elements: its input is not positive there (between −6 and "
        "−2)\n"
        "      at program.py:5: h = (x * w).relu()\n"
        "    mul multiplies 1 of 4 elements by mask, which is 0 there\n"
        "      at program.py:6: loss = (h * mask).sum()\n"
        "\n"
        "  from loss to w: elements that are not zero after each op\n"
        "    sum   4 of 4  program.py:6: loss = (h * mask).sum()\n"
        "    mul   3 of 4  program.py:6: loss = (h * mask).sum()\n"
        "    relu  0 of 4  program.py:5: h = (x * w).relu()\n"
        "    mul   0 of 1  program.py:5: h = (x * w).relu()"
    )


def test_one_element() -> None:
    x = tensor([-1.0, 2.0, 3.0], requires_grad=True)
    loss = (x.relu() * tensor([1.0, 0.0, 1.0])).sum()
    assert why_zero(x, loss, index=0).cause == "inactive"
    assert why_zero(x, loss, index=(1,)).cause == "multiplied by zero"
    assert str(why_zero(x, loss, index=-1)) == (
        "why_zero(x, loss, index=2): nothing wrong: the gradient of x is not zero; it is 1"
    )


def test_healthy_gradients_with_zeros_say_who_made_those() -> None:
    found = report(
        """
        x = tensor([-1.0, 2.0, 3.0], requires_grad=True)
        loss = x.relu().sum()
        answer = why_zero(x, loss)
        """
    )
    assert found == (
        "why_zero(x, loss)\n"
        "  cause: nothing wrong: the gradient of x is not zero; its norm is 1.414, and 1 of its 3 "
        "elements is zero\n"
        "\n"
        "  where the zeros come from\n"
        "    relu is inactive for 1 of 3 elements: its input is not positive there (−1)\n"
        "      at program.py:3: loss = x.relu().sum()"
    )


def test_the_other_factor_is_named_with_its_line() -> None:
    answer = ask(
        """
        x = tensor([1.0, 2.0], requires_grad=True)
        y = tensor([-1.0, -1.0], requires_grad=True)
        gate = y.relu()
        loss = (x * gate).sum()
        answer = why_zero(x, loss)
        """
    )["answer"]
    assert answer.headline == (
        "mul multiplies 2 of 2 elements by gate (made at line 4), which is 0 there"
    )


def test_magnitude_of_what_is_practically_zero() -> None:
    x = tensor([-50.0], requires_grad=True)
    loss = x.sigmoid().sum()
    assert why_zero(x, loss).headline == (
        "sigmoid is saturated for its only element (input −50); the gradient is practically zero: "
        "1.929e−22 at most, 1.929e−22 of the largest on the way"
    )
    assert why_zero(x, loss, tolerance=0).ok


def test_many_small_factors() -> None:
    x = tensor([1.0], requires_grad=True)
    y = x
    for _ in range(60):
        y = y.sigmoid() * 0.9
    answer = why_zero(x, y.sum())
    assert answer.cause == "vanishing"
    assert "many ops shrink the gradient a little" in answer.headline


def test_what_would_stop_it_further_down() -> None:
    found = report(
        """
        w = tensor([1.0, 2.0], requires_grad=True)
        h = (w - 10.0).relu()
        loss = (h ** 2).sum()
        answer = why_zero(w, loss)
        """
    )
    assert "the derivative of pow is 0 for 2 of 2 elements: the base is 0 there" in found
    assert "further down, nothing would get through here either\n    relu is inactive" in found


def test_a_zero_seed() -> None:
    x = tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    answer = why_zero(x, y, gradient=whygrad.zeros(2))
    assert answer.cause == "zero incoming"
    assert answer.headline == "the gradient that y starts with is 0"


def test_no_path() -> None:
    x, other = (tensor([1.0], requires_grad=True) for _ in range(2))
    for answer in (why_zero(x, other.sum()), why_zero(tensor([1.0]), other.sum())):
        assert answer.cause == "no path"
        assert "None, not zero" in answer.headline
        assert answer.fix is not None
        assert answer.fix.startswith("ask why_none(")


def test_the_grad_of_a_value_is_never_none() -> None:
    x, other = Value(1.0), Value(2.0)
    loss = other * 3
    answer = why_zero(x, loss)
    assert answer.cause == "no path"
    assert answer.headline == (
        "no gradient flows from loss to x: loss was not computed from it, and 0 is what a grad "
        "begins with"
    )
    assert answer.fix == "use x in the computation of loss"


@pytest.mark.parametrize("index", [None, 0])
def test_infinity_is_not_zero(index: int | None) -> None:
    x = tensor([0.0, 1.0], requires_grad=True)
    loss = x.log().sum()
    answer = why_zero(x, loss, index=index)
    assert answer.cause == "inf"
    assert answer.headline == "the gradient of x is not zero: it holds inf"
    json.dumps(answer.to_dict(), allow_nan=False)


def test_beside_infinity_nothing_is_small() -> None:
    x = tensor([0.0, 1.0], requires_grad=True)
    answer = why_zero(x, x.log().sum(), index=1)
    assert answer.ok
    assert answer.headline == "nothing wrong: the gradient of x is not zero; it is 1"


def test_an_op_that_lets_nothing_through_comes_first() -> None:
    answer = ask(
        """
        w = tensor([[1.0, -2.0], [0.5, 1.5]], requires_grad=True)
        x = tensor([[1.0, 2.0], [3.0, -1.0]])
        scores = x @ w
        scores = scores.masked_fill(whygrad.ones(2, 2) > 0, -1e9)
        loss = scores.softmax(-1)[0, 0]
        answer = why_zero(w, loss)
        """
    )["answer"]
    assert answer.cause == "not selected"
    assert answer.where.text.startswith("scores = scores.masked_fill(")


def test_nan_is_not_zero() -> None:
    x = tensor([0.0], requires_grad=True)
    loss = (x / x).sum()
    answer = why_zero(x, loss)
    assert answer.cause == "nan"
    assert answer.fix == "ask why_nan(loss) who made it"


def test_interior_tensors_and_the_loss_itself() -> None:
    x = tensor([1.0, 2.0], requires_grad=True)
    h = x * 3
    loss = (h * 0).sum()
    assert why_zero(h, loss).cause == "multiplied by zero"
    assert why_zero(loss, loss).ok
    unused = h.detach().requires_grad_()
    assert why_zero(unused, loss).cause == "no path"


def test_several_outputs() -> None:
    x = tensor([3.0, 1.0, 2.0], requires_grad=True)
    values, _ = x.topk(1)
    answer = why_zero(x, values.sum(), index=1)
    assert answer.cause == "not selected"
    left, right = x.split([1, 2])
    assert why_zero(x, right.sum(), index=0).cause == "not selected"
    assert why_zero(x, (left * 0).sum() + right.sum(), index=0).cause == "multiplied by zero"


class Stop(whygrad.autograd.Function):
    """Lets nothing through, once."""

    calls = 0

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, incoming: Tensor) -> Tensor:
        Stop.calls += 1
        return incoming * 0


def test_a_function_of_the_user_runs_once() -> None:
    x = tensor([1.0, 2.0], requires_grad=True)
    loss = Stop.apply(x).sum()
    Stop.calls = 0
    answer = why_zero(x, loss)
    assert answer.cause == "zero derivative"
    assert answer.headline == "the derivative of Stop is 0 for 2 of 2 elements"
    assert Stop.calls == 1


def test_hooks_are_not_called_but_mentioned() -> None:
    x = tensor([-1.0], requires_grad=True)
    h = x * 2
    called: list[Any] = []
    h.register_hook(called.append)
    x.register_hook(called.append)
    answer = why_zero(x, h.relu().sum())
    assert not called
    assert "not looked at" in answer.report()
    assert "the hook 'append' registered at" in answer.report()


def test_asking_changes_nothing() -> None:
    whygrad.manual_seed(0)
    x = whygrad.randn(4, requires_grad=True)
    h = x.relu()
    h.retain_grad()
    loss = (whygrad.nn.functional.dropout(h, 0.5) * 0).sum()
    state, version = whygrad.get_rng_state(), x._version
    why_zero(x, loss)
    assert x.grad is None
    assert h.grad is None
    assert x._version == version
    assert (whygrad.get_rng_state() == state).all()
    loss.backward()
    assert x.grad is not None
    assert not x.grad.numpy().any()


def test_deep_graph() -> None:
    x = tensor([1.0, -2.0], requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y * 1.0
    answer = why_zero(x, y.relu().sum(), index=1)
    assert answer.cause == "inactive"
    assert "… 99990 more ops" in answer.report()
    value = number = Value(1.0)
    for _ in range(10_000):
        number = number * 1.0
    assert why_zero(value, number * 0).cause == "multiplied by zero"


def test_many_events_at_one_line() -> None:
    x = tensor(np.ones(100, np.float32)).requires_grad_()
    y = x
    for place in range(100):
        y = y * tensor(np.arange(100) != place)
    answer = why_zero(x, y.sum())
    assert answer.cause == "multiplied by zero"
    assert "times: mul multiplies 1 of 100 elements" in answer.report()


def test_checkpoints() -> None:
    from whygrad.utils.checkpoint import checkpoint

    x = tensor([-1.0, -2.0], requires_grad=True)
    loss = checkpoint(lambda t: (t * 2).relu(), x, use_reentrant=False).sum()
    assert why_zero(x, loss).cause == "inactive"
    loss.backward()


def test_refusals() -> None:
    x = tensor([1.0, 2.0], requires_grad=True)
    loss = (x * x).sum()
    with pytest.raises(IndexError, match="index 2 is out of range for axis 0 of size 2"):
        why_zero(x, loss, index=2)
    with pytest.raises(IndexError, match="2 indices for 1 axes"):
        why_zero(x, loss, index=(0, 0))
    wrong: tuple[Any, ...] = (-1.0, float("nan"), "small")
    for tolerance in wrong:
        with pytest.raises(ValueError, match="pass a number from 0 on"):
            why_zero(x, loss, tolerance=tolerance)
    with pytest.raises(TypeError, match="it needs two tensors or two Values"):
        why_zero(x, 3.0)
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        why_zero(x, x * 2)
    loss.backward()
    with pytest.raises(RuntimeError, match="were freed by the backward") as caught:
        why_zero(x, loss)
    assert "why_zero(x, loss)\n  cause: the values this graph had saved" in str(caught.value)
    assert "ask before backward(), or pass retain_graph=True to it" in str(caught.value)


@every_sample(lambda op: op.differentiable and op.name != "move")
def test_claims_about_every_op(op: Op, call: Call) -> None:
    """Whether it is zero is what ``autograd.grad`` says; no op is without words."""
    side = whygrad_side(call, "float64")
    outputs = [
        each
        for each in side.run(op.public if op.public_name else op.call)
        if isinstance(each, Tensor) and each.requires_grad and type(each._array) is np.ndarray
    ]
    if not outputs:
        return
    generator = np.random.default_rng(1)
    weighted = [weighted_sum(each, tensor(generator.normal(size=each.shape))) for each in outputs]
    loss = whygrad.stack(weighted).sum()
    for leaf in side.inputs:
        (gradient,) = whygrad.autograd.grad(loss, leaf, retain_graph=True, allow_unused=True)
        answer = why_zero(leaf, loss)
        if gradient is None:
            assert answer.cause == "no path"
        elif leaf.numel() and not gradient.numpy().any():
            assert answer.cause not in (
                "no path",
                "nothing wrong",
            ), answer.report()
        else:
            cancelled = answer.evidence.get("relative", 1.0) < np.finfo("float64").eps
            assert answer.ok or cancelled, answer.report()
        assert answer.report()
        assert answer.to_dict()
