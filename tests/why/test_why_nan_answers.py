"""What an answer about a NaN says, what it refuses, and what asking leaves alone."""

from __future__ import annotations

from typing import Any

import pytest

import whygrad
from tests.why.asking import ask
from whygrad import tensor, where, why_nan
from whygrad.autograd.anomaly_mode.findings import trail_of
from whygrad.scalar import Value

nan, inf = float("nan"), float("inf")


def report(program: str) -> str:
    text: str = ask(program)["answer"].report()
    return text


def test_inf_that_becomes_nan() -> None:
    found = report(
        """
        scores = tensor([1000.0, 1.0], requires_grad=True)
        e = scores.exp()
        p = e / e.sum()
        loss = p.sum()
        answer = why_nan(loss)
        """
    )
    assert found == (
        "why_nan(loss)\n"
        "  cause: exp made inf out of finite numbers in 1 of 2 elements: eˣ is larger than the "
        "dtype can hold\n"
        "  at:    program.py:3: e = scores.exp()\n"
        "  fix:   subtract the maximum first, as logsumexp and softmax do, or clamp the exponent: "
        "x.clamp(max=80).exp()\n"
        "\n"
        "  the first elements\n"
        "    [0] x = 1000 → inf\n"
        "\n"
        "  the op\n"
        "    y = eˣ;  ∂y/∂x = y\n"
        "\n"
        "  what became of it\n"
        "    inf became nan in div(a: float32[2], b: float32[]) at program.py:4: p = e / e.sum()\n"
        "    it reached loss, which is nan"
    )


def test_a_hidden_branch() -> None:
    found = report(
        """
        x = tensor([0.0, 1.0], requires_grad=True)
        loss = where(x > 0, x.log(), tensor(0.0)).sum()
        answer = why_nan(loss)
        """
    )
    assert "the derivative of log made nan out of finite numbers in 1 of 2 elements" in found
    assert "choose before the op as well (double where)" in found
    assert "[0] incoming 0 · derivative inf at x = 0 → nan" in found
    assert "where does not choose `x.log()` there and sends 0 back: program.py:3" in found


def test_a_saved_inf_that_comes_back() -> None:
    """The forward value was thrown away; the one who made it is to blame all the same."""
    found = report(
        """
        x = tensor([1000.0, 1.0], requires_grad=True)
        big = x.exp()
        loss = where(x < 10, big, x).sum()
        answer = why_nan(loss)
        """
    )
    assert "cause: exp made inf out of finite numbers in 1 of 2 elements" in found
    assert "Function 'ExpBackward0' returned nan values" in found


def test_between_two_lines() -> None:
    found = report(
        """
        c = tensor([-5.0, 1.0])
        w = tensor([1.0, 2.0], requires_grad=True)
        def shifted():
            return w + c
        loss = shifted().log().sum()
        answer = why_nan(loss)
        """
    )
    # log keeps its argument, so what add returned is known after all
    assert "cause: log made nan out of finite numbers in 1 of 2 elements" in found
    found = report(
        """
        c = tensor([3e38, 1.0])
        w = tensor([3e38, 2.0], requires_grad=True)
        def shifted():
            return w + c
        loss = shifted().sum()
        answer = why_nan(loss)
        """
    )
    assert found == (
        "why_nan(loss)\n"
        "  cause: loss holds inf, made between line 5 and line 6: the values in between were not "
        "kept\n"
        "  at:    program.py:6: loss = shifted().sum()\n"
        "  fix:   pass the computation as a function, why_nan(lambda: …): it is run with every op "
        "watched\n"
        "\n"
        "  it is one of\n"
        "    add at program.py:5: return w + c\n"
        "    sum at program.py:6: loss = shifted().sum()"
    )


def test_nan_that_inf_of_unknown_origin_became() -> None:
    w, offset = tensor([1.0, 2.0], requires_grad=True), tensor(inf)
    shifted = w + offset
    back = shifted - offset
    answer = why_nan(back.sum())
    assert answer.cause == "undecided"
    assert [line.split(" at ")[0] for line in answer.sections[0].lines] == ["add", "sub"]


def test_a_leaf_that_was_written_to_since() -> None:
    w = tensor([1.0, nan], requires_grad=True)
    loss = ((w + 1.0) * 2).sum()
    kept = loss.grad_fn.next_functions[0][0].next_functions[0][0]
    assert kept.plan.op.name == "add"
    with whygrad.no_grad():
        w.fill_(0.0)
    answer = why_nan(loss)
    assert answer.cause == "undecided"
    assert "the values in between were not kept" in answer.headline


def test_without_a_graph() -> None:
    answer = why_nan(tensor([1.0, nan]))
    assert answer.cause == "undecided"
    assert "no graph tells how it was computed" in answer.headline
    written = tensor([1.0, 2.0])
    written.log_()
    written.fill_(nan)
    assert "fill_ wrote to it last" in why_nan(written).headline


def test_a_gradient_that_is_nan_from_before() -> None:
    w = tensor([1.0, 2.0], requires_grad=True)
    w.grad = tensor([nan, 0.0])
    answer = why_nan((w * w).sum())
    assert answer.cause == "given"
    assert "w.grad already holds nan in 1 of 2 elements: backward() adds to it" in answer.headline


def test_a_leaf_as_the_loss() -> None:
    w = tensor(nan, requires_grad=True)
    assert why_nan(w).cause == "given"


def test_what_is_not_finite_without_harm_is_listed() -> None:
    found = report(
        """
        x = tensor([1.0, 2.0], requires_grad=True)
        loss = (x * 1e30 * 1e30).clamp(max=1.0).sum()
        answer = why_nan(loss)
        """
    )
    assert found == (
        "why_nan(loss)\n"
        "  cause: nothing wrong: loss and every gradient of it are finite (loss = 2)\n"
        "\n"
        "  not finite on the way, without harm\n"
        "    mul made inf at program.py:3: loss = (x * 1e30 * 1e30).clamp(max=1.0).sum()"
    )


def test_hooks_are_not_called() -> None:
    x = tensor([1.0, 2.0], requires_grad=True)
    h = x * 2
    called: list[Any] = []
    x.register_hook(called.append)
    h.register_hook(called.append)
    x.register_post_accumulate_grad_hook(called.append)
    assert why_nan(h.exp().sum()).ok
    assert not called


def test_asking_changes_nothing() -> None:
    whygrad.manual_seed(0)
    x = whygrad.randn(4, requires_grad=True)
    h = x.exp()
    h.retain_grad()
    loss = (whygrad.nn.functional.dropout(h, 0.5) / 0.0).sum()
    state, version = whygrad.get_rng_state(), x._version
    why_nan(loss)
    hidden = where(x > 100, (x * 1000 + 1000).exp(), x)
    why_nan(hidden.sum())
    assert x.grad is None
    assert h.grad is None
    assert x._version == version
    assert (whygrad.get_rng_state() == state).all()
    assert not whygrad.is_anomaly_enabled()
    saved = hidden.grad_fn.next_functions[1][0].saved["y"]
    assert trail_of(saved) is None
    hidden.sum().backward()


def test_a_function_that_calls_backward_itself() -> None:
    x = tensor([0.0, 1.0], requires_grad=True)

    def step() -> None:
        x.sqrt().sum().backward()

    answer = why_nan(step)
    assert (answer.cause, answer.evidence["op"]) == ("backward", "sqrt")
    assert x.grad is None
    assert why_nan(lambda: None).ok
    assert why_nan(lambda: tensor([1.0])).ok
    assert not whygrad.is_anomaly_enabled()


def test_a_function_without_gradients() -> None:
    answer = why_nan(lambda: tensor([0.0]).log())
    assert (answer.cause, answer.evidence["op"]) == ("forward", "log")
    assert answer.question == "why_nan(lambda: …)"


def test_errors_of_a_function_are_its_own() -> None:
    def broken() -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        why_nan(broken)
    assert not whygrad.is_anomaly_enabled()


def test_deep_graph() -> None:
    x = tensor([-1.0, 2.0], requires_grad=True)
    y = x
    for _ in range(50_000):
        y = y * 1.0
    answer = why_nan(y.log().sum())
    assert (answer.cause, answer.evidence["op"]) == ("forward", "log")
    number = Value(1e300)
    for _ in range(50_000):
        number = number * 1.0
    assert why_nan(number * 1e300).evidence["op"] == "mul"


def test_several_elements_of_a_loss() -> None:
    x = tensor([0.0, 1.0], requires_grad=True)
    assert why_nan(x * 2).ok
    assert why_nan(x.sqrt()).cause == "backward"


def test_half_precision() -> None:
    x = tensor([300.0], dtype=whygrad.float16, requires_grad=True)
    answer = why_nan((x * x).sum())
    assert answer.headline == (
        "mul made inf out of finite numbers: the result is beyond 6.55e+04, the largest float16"
    )


def test_checkpoints_and_packed_values() -> None:
    from whygrad.utils.checkpoint import checkpoint

    x = tensor([0.0, 1.0], requires_grad=True)
    loss = checkpoint(lambda t: t.sqrt(), x, use_reentrant=False).sum()
    assert why_nan(loss).cause == "backward"
    with whygrad.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        loss = x.log().sum()
    assert why_nan(loss).cause == "forward"


def test_refusals() -> None:
    x = tensor([1.0, 2.0], requires_grad=True)
    loss = (x * x).sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="were freed by the backward") as caught:
        why_nan(loss)
    assert "or pass a function: why_nan(lambda: …)" in str(caught.value)
    with pytest.raises(TypeError, match="a tensor, a Value, or a function that returns one"):
        why_nan(3.0)
    with pytest.raises(RuntimeError, match="holds no numbers to look at"):
        why_nan(tensor([1.0], device="meta"))


def test_a_leaf_with_nan_is_told_even_from_a_freed_graph() -> None:
    w = tensor([1.0, nan], requires_grad=True)
    loss = (w + 1.0).sum()
    loss.backward()
    assert why_nan(loss).cause == "given"


def test_a_parameter_that_an_update_spoilt() -> None:
    found = ask(
        """
        x = tensor([[1.0, 2.0], [3.0, 4.0]])
        model = whygrad.nn.Linear(2, 1)
        optimizer = whygrad.optim.SGD(model.parameters(), lr=1.0)
        optimizer.zero_grad()
        (model(x) * nan).sum().backward()
        optimizer.step()
        loss = model(x).square().mean()
        answer = why_nan(loss)
        """
    )["answer"]
    assert found.cause == "given"
    assert found.headline.startswith("loss holds nan because model.weight held nan in 2 of 2")
    assert str(found.where).endswith("optimizer.step()")
    assert "the update before this pass" in found.fix
