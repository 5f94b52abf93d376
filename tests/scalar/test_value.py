"""``Value`` against hand calculations, PyTorch in float64 and its own promises."""

from __future__ import annotations

import doctest
import gc
import importlib
import math
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch

from whygrad import Value

nan, inf = math.nan, math.inf


def gradients(f: Callable[..., Value], *numbers: float) -> tuple[float, ...]:
    """The value of ``f`` and its gradient for each number."""
    leaves = [Value(each) for each in numbers]
    out = f(*leaves)
    out.backward()
    return (out.data, *[leaf.grad for leaf in leaves])


@pytest.mark.parametrize(
    ("f", "numbers", "expected"),
    [
        (lambda x, w, b: (x * w + b) ** 2, (2, 3, 1), (49, 42, 28, 14)),
        (lambda x: x * x + x, (3,), (12, 7)),
        (lambda a: (a + a) * a, (2,), (8, 8)),
        (lambda a, b, c: (a * b + c) * (a - c), (2, 3, 4), (-20, 4, -4, -12)),
        (lambda x: (2 * x + 1) ** 3, (1,), (27, 54)),
        (lambda x: 1 - x, (3,), (-2, -1)),
        (lambda x: 6 / x, (2,), (3, -1.5)),
        (lambda x: 2**x, (3,), (8, 8 * math.log(2))),
        (lambda x: sum([x, x, x]), (5,), (15, 3)),
        (lambda x: -x, (5,), (-5, -1)),
    ],
)
def test_by_hand(f: Any, numbers: tuple[float, ...], expected: tuple[float, ...]) -> None:
    assert gradients(f, *numbers) == pytest.approx(expected, rel=1e-15)


def larger(x: Any, y: Any) -> Any:
    return x.max(y) if isinstance(x, Value) else torch.maximum(x, y)


def smaller(x: Any, y: Any) -> Any:
    return x.min(y) if isinstance(x, Value) else torch.minimum(x, y)


# Run on Values and on tensors; kept inside the domain and away from overflow.
RULES: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: (x * y).tanh(),
    lambda x, y: x / (y * y + 0.5),
    lambda x, y: (abs(x) + 0.5) ** y.tanh(),
    lambda x, y: larger(x, y),
    lambda x, y: smaller(x, y),
    lambda x, y: x.tanh().exp(),
    lambda x, y: (x.abs() + 0.3).log(),
    lambda x, y: (abs(x) + 0.1).sqrt(),
    lambda x, y: x.relu() - y.sigmoid(),
    lambda x, y: x.sin() * y.cos(),
    lambda x, y: x.tanh() ** 3,
    lambda x, y: (x * x + 1.0) ** -0.5,
    lambda x, y: 1.5 ** -y.tanh(),
    lambda x, y: 2.0 - x,
    lambda x, y: 3.0 * y + 1,
    lambda x, y: 0.7 / (2.0 + x.sin()),
    lambda x, y: -x / 3,
]


def tree(seed: int, leaves: list[Any]) -> Any:
    """A random expression with shared parts, the same on both sides for the same seed."""
    rng = random.Random(seed)
    made = list(leaves)
    for _ in range(30):
        rule = rng.choice(RULES)
        made.append(rule(rng.choice(made), rng.choice(made)))
    return made[-1] * made[-2] + made[-3]


@pytest.mark.parametrize("start", range(0, 1000, 100))
def test_random_trees_against_torch(start: int) -> None:
    for seed in range(start, start + 100):
        rng = random.Random(-seed - 1)
        numbers = [rng.uniform(-3, 3) for _ in range(4)]
        ours = [Value(each) for each in numbers]
        theirs = [torch.tensor(each, dtype=torch.float64, requires_grad=True) for each in numbers]
        out, expected = tree(seed, ours), tree(seed, theirs)
        out.backward()
        expected.backward()
        scale = max([abs(leaf.grad or 0) for leaf in ours])
        assert out.data == pytest.approx(expected.item(), rel=1e-12, abs=1e-12)
        for leaf, other in zip(ours, theirs):
            wanted = 0.0 if other.grad is None else other.grad.item()
            assert leaf.grad == pytest.approx(wanted, rel=1e-12, abs=1e-12 * scale), seed


@pytest.mark.parametrize(
    ("f", "numbers"),
    [
        (lambda x: x.sqrt(), (0.0,)),
        (lambda x: x**0.5, (0.0,)),
        (lambda x: (x * x).sqrt(), (0.0,)),  # 0 × inf is nan
        (lambda x: x.relu().sqrt(), (-1.0,)),  # but an inactive relu lets nothing through
        (lambda x, y: larger(x, y).sqrt(), (-1.0, 0.0)),
        (lambda x: x.relu(), (0.0,)),
        (lambda x: x.relu(), (nan,)),
        (lambda x: x.abs(), (0.0,)),
        (lambda x: x**0, (0.0,)),
        (lambda x: x**1, (0.0,)),
        (lambda x: x**2, (0.0,)),
        (lambda x: x**-1, (1e-200,)),
        (lambda x: x**-3, (-1e-90,)),
        (lambda x: x**3, (-2.0,)),
        (lambda x, y: x**y, (0.0, 0.0)),
        (lambda x, y: x**y, (0.0, 1.0)),
        (lambda x, y: x**y, (0.0, 0.5)),
        (lambda x, y: x**y, (0.0, 3.0)),
        (lambda x, y: x**y, (-2.0, 3.0)),
        (lambda y: 0.0**y, (2.0,)),
        (lambda x, y: x / y, (3.0, 1e-200)),
        (lambda x, y: larger(x, y), (2.0, 2.0)),
        (lambda x, y: smaller(x, y), (2.0, 2.0)),
        (lambda x, y: larger(x, y), (2.0, -1.0)),
        (lambda x, y: smaller(x, y), (2.0, -1.0)),
        (lambda x: x.sigmoid(), (1000.0,)),
        (lambda x: x.sigmoid(), (-1000.0,)),
        (lambda x: x.tanh(), (1000.0,)),
        (lambda x: x.exp(), (-1000.0,)),
        (lambda x: x.log(), (1e-320,)),
        (lambda x: x * x, (1e200,)),
        (lambda x: x.exp(), (-inf,)),
    ],
)
def test_edges_against_torch(f: Any, numbers: tuple[float, ...]) -> None:
    theirs = [torch.tensor(each, dtype=torch.float64, requires_grad=True) for each in numbers]
    out = f(*theirs)
    out.backward()
    expected = [out.item(), *[each.grad.item() for each in theirs]]
    assert gradients(f, *numbers) == pytest.approx(expected, rel=1e-14, abs=0.0, nan_ok=True)


@pytest.mark.parametrize("order", [(nan, 1.0), (1.0, nan)])
def test_max_and_min_show_a_nan(order: tuple[float, float]) -> None:
    left, right = map(Value, order)
    assert math.isnan(left.max(right).data)
    assert math.isnan(left.min(right).data)


def test_the_slope_of_a_saturated_sigmoid_is_exact() -> None:
    assert gradients(lambda x: x.sigmoid(), 40.0)[1] == pytest.approx(math.exp(-40), rel=1e-15)


@pytest.mark.parametrize("module", ["value", "check"])
def test_docstrings_run(module: str) -> None:
    done = doctest.testmod(importlib.import_module(f"whygrad.scalar.{module}"))
    assert done.attempted > 0
    assert done.failed == 0


def test_inputs_keep_order_and_repetition() -> None:
    a, b = Value(2.0), Value(3.0)
    assert [each is a for each in (a + a)._prev] == [True, True]
    for made, slopes in (
        (b - a, (1.0, -1.0)),
        (b / a, (0.5, -0.75)),
        (b**a, (6.0, 9 * math.log(3))),
    ):
        assert made._prev[0] is b
        assert made._prev[1] is a
        assert made._slopes == slopes
    for made in (a + 1, 1 + a, a * 2, 2 * a, 1 - a, 1 / a, 2**a, a**2, a.max(1)):
        assert len(made._prev) == len(made._slopes) == 1
        assert made._prev[0] is a


@pytest.mark.parametrize(
    ("f", "op"),
    [
        (lambda x: x, ""),
        (lambda x: x + x, "+"),
        (lambda x: 1 - x, "-"),
        (lambda x: x * 2, "*"),
        (lambda x: 1 / x, "/"),
        (lambda x: x**2, "**"),
        (lambda x: -x, "neg"),
        (lambda x: abs(x), "abs"),
        *[
            (lambda x, op=op: getattr(x, op)(), op)
            for op in ("abs", "cos", "exp", "log", "relu", "sigmoid", "sin", "sqrt", "tanh")
        ],
        (lambda x: x.max(1), "max"),
        (lambda x: x.min(1), "min"),
    ],
)
def test_names_of_ops(f: Callable[[Value], Value], op: str) -> None:
    assert f(Value(2.0))._op == op


def test_inputs_are_older() -> None:
    x = Value(2.0)
    y = (x + 1) * x
    assert x._order < y._prev[0]._order < y._order


def test_backward_twice_adds_to_leaves_only() -> None:
    x = Value(3.0)
    square = x * x
    out = square + x
    for calls in (1, 2, 3):
        out.backward()
        assert (out.grad, square.grad, x.grad) == (1.0, 1.0, 7.0 * calls)
    x.zero_grad()
    out.backward()
    assert x.grad == 7.0


def test_expressions_that_share_parts() -> None:
    x = Value(3.0)
    shared = x * x
    (shared * 2).backward()
    assert (x.grad, shared.grad) == (12.0, 2.0)
    (shared * 5 + x).backward()
    assert (x.grad, shared.grad) == (12.0 + 31.0, 5.0)
    shared.backward()
    assert (x.grad, shared.grad) == (43.0 + 6.0, 1.0)


def test_backward_of_a_leaf_adds_one() -> None:
    x = Value(3.0)
    x.backward()
    x.backward()
    assert x.grad == 2.0


def test_slopes_are_those_of_the_forward() -> None:
    """A step between forward and backward does not spoil the gradient."""
    w, x = Value(3.0), Value(2.0)
    out = w * x
    w.data = 100.0
    out.backward()
    assert x.grad == 3.0


@contextmanager
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def alive() -> int:
    return sum(type(each) is Value for each in gc.get_objects())


def test_deep_graphs() -> None:
    depth = 100_000
    x = Value(1.0)
    with no_collector():
        before = alive()
        y = x
        for _ in range(depth):
            y = y * 1.00001 + 0.0
        y.backward()
        assert x.grad == pytest.approx(1.00001**depth, rel=1e-9)
        del y
        assert alive() == before


def test_no_reference_cycles() -> None:
    with no_collector():
        before = alive()
        x = Value(2.0)
        for _ in range(3):
            y = ((x * x).exp() + 1 / x - x.max(1.0)) ** x
            y.backward()
        del x, y
        assert alive() == before


def test_backward_needs_no_recursion() -> None:
    x = Value(1.0)
    y = x
    for _ in range(2000):
        y = y + y * 1e-9
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len([*iter_frames()]) + 60)
    try:
        y.backward()
        del y
    finally:
        sys.setrecursionlimit(limit)
    assert x.grad == pytest.approx(1.0, rel=1e-5)


def iter_frames() -> Iterator[Any]:
    frame = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back


def test_source_lines() -> None:
    x = Value(2.0)
    y = (x * 3 + 1).tanh()
    total, product = y._prev[0], y._prev[0]._prev[0]
    assert x.where.text == "x = Value(2.0)"
    assert [each.where.expression for each in (product, total, y)] == [
        "x * 3", "x * 3 + 1", "(x * 3 + 1).tanh()",
    ]  # fmt: skip
    assert x.where.line + 1 == y.where.line == product.where.line
    assert x.where.file == __file__
    assert (1 / x).where.expression == "1 / x"
    assert (np.float64(1) - x).where.expression == "np.float64(1) - x"
