"""Who made the first number that is not finite: one short program per case."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest

import whygrad
from tests.why.asking import ask, marked_line
from whygrad.scalar import Value

# cause, the op to blame (None: no op made it), program
SITUATIONS = [
    (
        "forward",
        "log",
        """
        x = tensor([0.0, 1.0], requires_grad=True)
        y = x.log()  # here
        loss = y.sum()
        """,
    ),
    (
        "forward",
        "log",
        """
        x = tensor([-1.0, 1.0], requires_grad=True)
        y = (x * 2 + 1.0).log()  # here
        loss = y.sum()
        """,
    ),
    (
        "forward",
        "div",
        """
        x = tensor([0.0, 1.0], requires_grad=True)
        loss = (x / x).sum()  # here
        """,
    ),
    (
        "forward",
        "div",
        """
        x = tensor([[2.0, 2.0], [1.0, 3.0]], requires_grad=True)
        centred = x - x.mean(1, keepdim=True)
        scaled = centred / x.std(1, keepdim=True)  # here
        loss = scaled.square().sum()
        """,
    ),
    (
        "forward",
        "pow",
        """
        x = tensor([-2.0, 4.0], requires_grad=True)
        y = x ** 0.5  # here
        loss = y.sum()
        """,
    ),
    (
        "forward",
        "sqrt",
        """
        x = tensor([1.0, 2.0], requires_grad=True)
        y = (x - 1.5).sqrt()  # here
        loss = y.sum()
        """,
    ),
    (
        "forward",
        "exp",
        """
        scores = tensor([1000.0, 1.0], requires_grad=True)
        e = scores.exp()  # here
        p = e / e.sum()
        loss = (p * tensor([1.0, 2.0])).sum()
        """,
    ),
    (
        "forward",
        "exp",
        """
        x = tensor([100.0, 200.0], requires_grad=True)
        big = x.exp()  # here
        loss = (big - big).sum()
        """,
    ),
    (
        "forward",
        "mul",
        """
        x = tensor([300.0], dtype=whygrad.float16, requires_grad=True)
        y = x * x  # here
        loss = (y - y).sum()
        """,
    ),
    (
        "forward",
        "softmax",
        """
        scores = tensor([[1.0, 2.0]], requires_grad=True)
        masked = scores.masked_fill(tensor([[True, True]]), -inf)
        p = masked.softmax(1)  # here
        loss = p.sum()
        """,
    ),
    (
        "given",
        None,
        """
        w = tensor([1.0, nan], requires_grad=True)  # here
        loss = (w * 2).sum()
        """,
    ),
    (
        "given",
        None,
        """
        w = tensor([1.0, 2.0], requires_grad=True)
        data = tensor([nan, 1.0])
        loss = (w * data).sum()  # here
        """,
    ),
    (
        "given",
        None,
        """
        w = tensor([1.0, 2.0], requires_grad=True)
        with whygrad.no_grad():
            w[0] = nan  # here
        loss = (w * w).sum()
        """,
    ),
    (
        "given",
        None,
        """
        w = tensor([1.0, 2.0], requires_grad=True)
        y = w + tensor([0.0, nan])  # here
        loss = (y * y).sum()
        """,
    ),
    (
        "undecided",
        None,
        """
        w = tensor([1.0, 2.0], requires_grad=True)
        c = tensor([0.0, nan])
        loss = (w + c).sum()  # here
        """,
    ),
    (
        "backward",
        "sqrt",
        """
        x = tensor([0.0, 4.0], requires_grad=True)
        y = x.sqrt()  # here
        loss = y.sum()
        """,
    ),
    (
        "backward",
        "log",
        """
        x = tensor([0.0, 1.0], requires_grad=True)
        safe = where(x > 0, x.log(), tensor(0.0))  # here
        loss = safe.sum()
        """,
    ),
    (
        "backward",
        "sqrt",
        """
        x = tensor([3.0, 3.0], requires_grad=True)
        distance = ((x - 3.0) ** 2).sum().sqrt()  # here
        loss = distance * 2
        """,
    ),
    (
        "forward",
        "exp",
        """
        x = tensor([1000.0, 1.0], requires_grad=True)
        big = x.exp()  # here
        loss = where(x < 10, big, x).sum()
        """,
    ),
    (
        "forward",
        "mul",
        """
        x = Value(1e200)
        big = x * 1e200  # here
        loss = big - big
        """,
    ),
    (
        "backward",
        "sqrt",
        """
        x = Value(0.0)
        loss = x.sqrt() * 2  # here
        """,
    ),
    (
        "given",
        None,
        """
        x = Value(nan)  # here
        loss = x * 2
        """,
    ),
    (
        "given",
        None,
        """
        x = Value(2.0)
        loss = (x + inf) * 2  # here
        """,
    ),
]

HEALTHY = [
    """
    x = whygrad.randn(4, 3)
    w = whygrad.randn(3, 2, requires_grad=True)
    loss = (x @ w).relu().square().mean()
    """,
    """
    q = whygrad.randn(3, 4, requires_grad=True)
    mask = tensor([[False, True, True], [False, False, True], [False, False, False]])
    attention = (q @ q.T / 2.0).masked_fill(mask, -inf).softmax(-1)
    loss = (attention @ q).sum()
    """,
    """
    q = whygrad.randn(3, 4, requires_grad=True)
    mask = tensor([[0.0, -inf, -inf], [0.0, 0.0, -inf], [0.0, 0.0, 0.0]])
    loss = ((q @ q.T + mask).softmax(-1) @ q).sum()
    """,
    """
    x = tensor([0.0, 4.0], requires_grad=True)
    loss = where(x > 0, where(x > 0, x, tensor(1.0)).log(), tensor(0.0)).sum()
    """,
    """
    x = tensor([0.0, 0.0], requires_grad=True)
    loss = x.norm()
    """,
    """
    x = tensor([1000.0, -1000.0], requires_grad=True)
    loss = x.logsumexp(0) + F.softplus(x).sum()
    """,
    """
    x = tensor([0.5, 2.0], requires_grad=True)
    loss = F.binary_cross_entropy_with_logits(x * 100, tensor([0.0, 1.0]))
    """,
    """
    x = tensor([1.0, 2.0])
    loss = x.sum()
    """,
    """
    x = Value(2.0)
    loss = (x * 3).tanh() + x.sqrt()
    """,
]


@pytest.mark.parametrize(("cause", "op", "program"), SITUATIONS)
def test_cause_and_line(cause: str, op: str | None, program: str) -> None:
    found = ask(dedent(program) + "answer = why_nan(loss)")
    answer = found["answer"]
    assert answer.cause == cause, answer.report()
    assert answer.where is not None
    assert answer.where.line == marked_line(program), answer.report()
    assert answer.evidence.get("op") == op
    assert answer.question == "why_nan(loss)"
    assert answer.fix
    json.dumps(answer.to_dict(), allow_nan=False)


@pytest.mark.parametrize("program", HEALTHY)
def test_healthy(program: str) -> None:
    found = ask(dedent(program) + "answer = why_nan(loss)")
    answer, loss = found["answer"], found["loss"]
    assert answer.ok, answer.report()
    assert answer.headline.startswith("nothing wrong: ")
    if isinstance(loss, whygrad.Tensor) and loss.requires_grad:
        loss.backward()
        leaf = found.get("w", found.get("q", found.get("x")))
        assert leaf.grad.isfinite().all()
    elif isinstance(loss, Value):
        loss.backward()
        assert found["x"].grad == found["x"].grad


@pytest.mark.parametrize(("cause", "op", "program"), SITUATIONS)
def test_a_function_gets_the_same_answer(cause: str, op: str | None, program: str) -> None:
    """Watched while it runs, nothing is undecided, and who is to blame stays the same."""
    lines = dedent(program).strip("\n").splitlines()
    body = "\n".join(f"    {line}" for line in lines)
    found = ask(f"def step():\n{body}\n    return loss\nanswer = why_nan(step)\n")
    answer = found["answer"]
    assert answer.question == "why_nan(step)"
    assert answer.cause == ("given" if cause == "undecided" else cause), answer.report()
    assert answer.evidence.get("op") == op
