"""Which op let no gradient through: one short program per cause."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest

import whygrad
from tests.why.asking import ask, marked_line
from whygrad.scalar import Value

SITUATIONS = [
    (
        "inactive",
        """
        x = tensor([-1.0, -2.0, -3.0], requires_grad=True)
        h = (x * 2).relu()  # here
        loss = (h * 3).sum()
        """,
    ),
    (
        "inactive",
        """
        x = tensor([-9.0, -8.0], requires_grad=True)
        loss = F.hardswish(x).sum()  # here
        """,
    ),
    (
        "inactive",
        """
        x = tensor([0.1, -0.2], requires_grad=True)
        loss = F.softshrink(x, 0.5).sum()  # here
        """,
    ),
    (
        "clamped",
        """
        x = tensor([3.0, -4.0], requires_grad=True)
        y = x.clamp(-1, 1)  # here
        loss = y.sum()
        """,
    ),
    (
        "clamped",
        """
        x = tensor([7.0, -4.0], requires_grad=True)
        loss = F.relu6(x).sum()  # here
        """,
    ),
    (
        "not selected",
        """
        x = tensor([1.0, 2.0], requires_grad=True)
        other = tensor([5.0, 5.0])
        y = whygrad.maximum(x, other)  # here
        loss = y.sum()
        """,
    ),
    (
        "not selected",
        """
        x = tensor([1.0, 2.0], requires_grad=True)
        y = where(x > 0, tensor(3.0), x)  # here
        loss = y.sum()
        """,
    ),
    (
        "not selected",
        """
        x = tensor([1.0, 2.0], requires_grad=True)
        scores = whygrad.cat([x, tensor([9.0])])
        loss = scores.max()  # here
        """,
    ),
    (
        "not selected",
        """
        x = tensor([1.0, 2.0, 3.0], requires_grad=True)
        rows = whygrad.stack([x, tensor([4.0, 5.0, 6.0])])
        loss = rows[1].sum()  # here
        """,
    ),
    (
        "not selected",
        """
        x = tensor([[1.0, 2.0]], requires_grad=True)
        loss = F.cross_entropy(x, tensor([-100]), reduction="sum")  # here
        """,
    ),
    (
        "multiplied by zero",
        """
        x = tensor([1.0, 2.0], requires_grad=True)
        mask = tensor([0.0, 0.0])
        loss = (x * mask).sum()  # here
        """,
    ),
    (
        "multiplied by zero",
        """
        x = tensor([1.0, 2.0], requires_grad=True)
        weight = whygrad.zeros(2, 3)
        loss = (x @ weight).sum()  # here
        """,
    ),
    (
        "multiplied by zero",
        """
        x = tensor([1.0, 2.0], requires_grad=True)
        loss = x.exp().sum() * 0  # here
        """,
    ),
    (
        "dropout",
        """
        x = tensor([1.0, 2.0], requires_grad=True)
        h = F.dropout(x, 1.0)  # here
        loss = h.sum()
        """,
    ),
    (
        "saturated",
        """
        x = tensor([40.0, 60.0], requires_grad=True)
        p = x.sigmoid()  # here
        loss = p.sum()
        """,
    ),
    (
        "saturated",
        """
        x = tensor([-50.0], requires_grad=True)
        p = x.sigmoid()  # here
        loss = p.log().sum() * 0 + p.sum()
        """,
    ),
    (
        "saturated",
        """
        x = tensor([20.0, -30.0], requires_grad=True)
        loss = x.tanh().sum()  # here
        """,
    ),
    (
        "saturated",
        """
        x = tensor([500.0, 0.0, 0.0], requires_grad=True)
        p = x.softmax(0)  # here
        loss = (p * tensor([1.0, 2.0, 3.0])).sum()
        """,
    ),
    (
        "flat",
        """
        x = tensor([[1.0], [2.0]], requires_grad=True)
        p = x.softmax(1)  # here
        loss = (p * tensor([[1.0], [2.0]])).sum()
        """,
    ),
    (
        "flat",
        """
        x = tensor([1.2, 2.7], requires_grad=True)
        loss = (x * 3).round().sum()  # here
        """,
    ),
    (
        "flat",
        """
        x = tensor([1.2, -2.7], requires_grad=True)
        loss = x.sign().sum()  # here
        """,
    ),
    (
        "stationary",
        """
        x = tensor([1.0, 2.0], requires_grad=True)
        loss = F.mse_loss(x, tensor([1.0, 2.0]))  # here
        """,
    ),
    (
        "stationary",
        """
        x = tensor([0.0, 0.0], requires_grad=True)
        loss = (x ** 2).sum()  # here
        """,
    ),
    (
        "overwritten",
        """
        x = tensor([1.0, 2.0], requires_grad=True)
        y = x * 1
        y[:] = 5.0  # here
        loss = y.sum()
        """,
    ),
    (
        "underflow",
        """
        x = tensor([1.0], dtype=whygrad.float16, requires_grad=True)
        small = x * 1e-4  # here
        loss = (small * 1e-4).sum()
        """,
    ),
    (
        "underflow",
        """
        x = tensor([1.0], requires_grad=True)
        small = x * 1e-30  # here
        loss = (small * 1e-30).sum()
        """,
    ),
    (
        "underflow",
        """
        x = tensor([1.0], dtype=whygrad.float16, requires_grad=True)
        wide = x.to(whygrad.float32)  # here
        loss = (wide * 1e-9).sum()
        """,
    ),
    (
        "cancelled",
        """
        x = tensor([1.0, 2.0], requires_grad=True)
        up = x * 3  # here
        down = x * -3
        loss = (up + down).sum()
        """,
    ),
    (
        "cancelled",
        """
        x = tensor([1.0, 2.0, 4.0], requires_grad=True)
        p = x.softmax(0)  # here
        loss = p.sum()
        """,
    ),
    (
        "cancelled",
        """
        x = tensor(2.0, requires_grad=True)
        y = x * tensor([1.0, -1.0])  # here
        loss = y.sum()
        """,
    ),
    (
        "vanishing",
        """
        x = tensor([1.0, 2.0], requires_grad=True)
        y = x * 1e-15  # here
        loss = y.sum()
        """,
    ),
    (
        "empty",
        """
        x = tensor([1.0, 2.0], requires_grad=True)
        loss = (whygrad.zeros(0, 2) * x).sum()  # here
        """,
    ),
    (
        "inactive",
        """
        x = Value(-2.0)
        h = (x * 3).relu()  # here
        loss = h * 2
        """,
    ),
    (
        "multiplied by zero",
        """
        x, zero = Value(-2.0), Value(0.0)
        loss = x * zero  # here
        """,
    ),
    (
        "cancelled",
        """
        x = Value(3.0)
        loss = x - x  # here
        """,
    ),
    (
        "not selected",
        """
        x = Value(3.0)
        loss = x.max(5.0)  # here
        """,
    ),
    (
        "saturated",
        """
        x = Value(-60.0)
        loss = x.sigmoid() * 2  # here
        """,
    ),
]


@pytest.mark.parametrize(("cause", "program"), SITUATIONS)
def test_cause_and_line(cause: str, program: str) -> None:
    found = ask(dedent(program) + "answer = why_zero(x, loss)")
    answer, x, loss = found["answer"], found["x"], found["loss"]
    assert answer.cause == cause, answer.report()
    assert answer.where is not None
    assert answer.where.line == marked_line(program), answer.report()
    assert answer.question == "why_zero(x, loss)"
    assert not answer.ok
    json.dumps(answer.to_dict(), allow_nan=False)
    if isinstance(x, Value):
        loss.backward()
        assert abs(x.grad) < 1e-20
    else:
        (gradient,) = whygrad.autograd.grad(loss, x, retain_graph=True)
        assert float(gradient.abs().max()) <= 1e-7
