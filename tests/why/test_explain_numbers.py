"""Gradients of single numbers, path by path."""

from __future__ import annotations

import math
import random
from itertools import product
from textwrap import dedent
from typing import Any

import pytest

import whygrad
from tests.why.programs import run, transcript
from whygrad import Value

DIAMOND = """
    L = (a*b + c) * (a - c)
    explanation = whygrad.explain(L, wrt=a)
"""


def leaves(kind: str, *numbers: float) -> tuple[Any, ...]:
    if kind == "values":
        return tuple(map(Value, numbers))
    return tuple(
        whygrad.tensor(each, dtype=whygrad.float64, requires_grad=True) for each in numbers
    )


def products(explanation: Any) -> list[float]:
    return [path.product for path in explanation.paths.shown]


def slopes(explanation: Any) -> list[list[float]]:
    return [[edge.slope for edge in path.edges] for path in explanation.paths.shown]


def test_the_diamond_of_values() -> None:
    a, b, c = leaves("values", 2.0, 3.0, 4.0)
    assert transcript(DIAMOND, "diamond.py", a=a, b=b, c=c) == dedent(
        """\
        dL/da = 4: the sum of 2 paths

          through a*b + c: -2 × 1 × 3 = -6
            dL/d(a*b + c)      = a - c    = -2  *  diamond.py:1
            d(a*b + c)/d(a*b)             =  1  +  diamond.py:1
            d(a*b)/da          = b        =  3  *  diamond.py:1

          through a - c: 10 × 1 = 10
            dL/d(a - c)        = a*b + c  = 10  *  diamond.py:1
            d(a - c)/da                   =  1  -  diamond.py:1

          sum: -6 + 10 = 4

        diamond.py:1: L = (a*b + c) * (a - c)"""
    )


def test_the_diamond_of_tensors() -> None:
    a, b, c = leaves("tensors", 2.0, 3.0, 4.0)
    assert transcript(DIAMOND, "diamond.py", a=a, b=b, c=c) == dedent(
        """\
        dL/da = 4: the sum of 2 paths

          through a*b + c: -2 × 1 × 3 = -6
            dL/d(a*b + c)      = a - c    = -2  mul  diamond.py:1
            d(a*b + c)/d(a*b)             =  1  add  diamond.py:1
            d(a*b)/da          = b        =  3  mul  diamond.py:1

          through a - c: 10 × 1 = 10
            dL/d(a - c)        = a*b + c  = 10  mul  diamond.py:1
            d(a - c)/da                   =  1  sub  diamond.py:1

          sum: -6 + 10 = 4

        diamond.py:1: L = (a*b + c) * (a - c)"""
    )


@pytest.mark.parametrize("kind", ["values", "tensors"])
def test_the_other_leaves_of_the_diamond(kind: str) -> None:
    a, b, c = leaves(kind, 2.0, 3.0, 4.0)
    y = (a * b + c) * (a - c)
    of_a, of_b, of_c = whygrad.explain(y, wrt=(a, b, c))
    assert (products(of_a), products(of_b), products(of_c)) == ([-6, 10], [-4], [-2, -10])
    assert [explanation.gradient for explanation in (of_a, of_b, of_c)] == [4, -4, -12]
    assert slopes(of_c) == [[-2, 1], [10, -1]]
    assert of_a.total == 4
    assert of_a.residual == 0


@pytest.mark.parametrize("kind", ["values", "tensors"])
def test_every_use_is_an_edge_of_its_own(kind: str) -> None:
    (x,) = leaves(kind, 3.0)
    explanation = whygrad.explain(x * x + x, wrt=x)
    assert products(explanation) == [3, 3, 1]
    assert [each.value for each in explanation.contributions] == [3, 3, 1]
    assert "through x * x, argument 1 of x * x: 1 × 3 = 3" in str(explanation)
    assert "through x * x, argument 2 of x * x: 1 × 3 = 3" in str(explanation)
    assert "directly: 1" in str(explanation)

    (a,) = leaves(kind, 2.0)
    explanation = whygrad.explain((a + a) * a, wrt=a)
    assert products(explanation) == [2, 2, 4]
    assert explanation.gradient == 8


@pytest.mark.parametrize("kind", ["values", "tensors"])
def test_with_respect_to_something_in_between(kind: str) -> None:
    (x,) = leaves(kind, 2.0)
    middle = x * 3
    y = middle * middle
    explanation = whygrad.explain(y, wrt=middle)
    assert products(explanation) == [6, 6]
    assert "dy/dmiddle = 12" in str(explanation)


@pytest.mark.parametrize("kind", ["values", "tensors"])
def test_from_another_gradient_than_one(kind: str) -> None:
    (x,) = leaves(kind, 2.0)
    y = x * 5
    seed = 0.5 if kind == "values" else whygrad.tensor(0.5, dtype=whygrad.float64)
    explanation = whygrad.explain(y, wrt=x, gradient=seed)
    assert products(explanation) == [2.5]
    assert "the gradient to start from  = 0.5" in str(explanation)


def test_one_path() -> None:
    x = Value(2.0)
    y = x.exp()
    text = str(whygrad.explain(y, wrt=x))
    assert text.startswith("dy/dx = 7.389: from one path\n\n  directly: 7.389\n")
    assert "sum" not in text


@pytest.mark.parametrize("kind", ["values", "tensors"])
def test_paths_double_and_are_counted_all_the_same(kind: str) -> None:
    (x,) = leaves(kind, 1.0)
    y = x
    for _ in range(60):
        y = y * 0.5 + y * 0.6
    explanation = whygrad.explain(y, wrt=x, max_paths=3)
    paths = explanation.paths
    assert paths is not None
    assert paths.count == 2**60
    assert sum(paths.through.values()) == 2**60
    assert len(paths.shown) == 3
    assert products(explanation) == pytest.approx([0.6**60, 0.6**59 * 0.5, 0.6**59 * 0.5])
    assert paths.left_out == 2**60 - 3
    assert paths.left_out_sum + sum(products(explanation)) == pytest.approx(1.1**60)
    assert explanation.total == pytest.approx(1.1**60)
    text = explanation.text(80)
    assert "the sum of 1.153e+18 paths" in text
    assert "1.153e+18 paths not shown, with the sum 304.5" in text
    assert "5.765e+17" in text  # through each of the two uses


def test_the_largest_paths_are_the_largest() -> None:
    """Against all of them, with slopes that are zero, negative and equal among the rest."""
    rng = random.Random(3)
    for _ in range(20):
        stages = [[rng.choice([0.0, -2.0, 0.5, 3.0, 3.0, 1.5]) for _ in range(3)] for _ in range(5)]
        x = y = Value(1.0)
        for stage in stages:
            y = y * stage[0] + y * stage[1] + y * stage[2]
        every = sorted((math.prod(each) for each in product(*stages)), key=abs, reverse=True)
        explanation = whygrad.explain(y, wrt=x, max_paths=40)
        assert [abs(each) for each in products(explanation)] == pytest.approx(
            [abs(each) for each in every[:40]]
        )
        assert explanation.paths is not None
        assert explanation.paths.left_out_sum == pytest.approx(
            sum(every) - sum(products(explanation))
        )


def test_infinite_slopes_come_first() -> None:
    x = Value(0.0)
    explanation = whygrad.explain(x.sqrt() + 2 * x, wrt=x, max_paths=1)
    assert products(explanation) == [math.inf]


@pytest.mark.parametrize("kind", ["values", "tensors"])
def test_a_closed_gate_stays_closed_to_an_infinite_gradient(kind: str) -> None:
    (x,) = leaves(kind, -1.0)
    y = (x.relu() * 1.0).sqrt()
    explanation = whygrad.explain(y, wrt=x)
    assert products(explanation) == [0.0]
    assert explanation.gradient == 0.0


@pytest.mark.parametrize(("kind", "depth"), [("values", 100_000), ("tensors", 30_000)])
def test_a_very_deep_graph(kind: str, depth: int) -> None:
    (x,) = leaves(kind, 0.5)
    y = x
    for _ in range(depth):
        y = y * 0.9999
    explanation = whygrad.explain(y, wrt=x)
    assert explanation.gradient == pytest.approx(0.9999**depth)
    assert products(explanation) == pytest.approx([0.9999**depth])
    assert f"… {depth - 12:,} more factors" in explanation.text(80)
    assert len(explanation.text(80).splitlines()) < 30


def test_more_paths_than_digits_that_python_prints() -> None:
    x = y = Value(1.0)
    for _ in range(15_000):
        y = 0.5 * y + 0.5 * y
    explanation = whygrad.explain(y, wrt=x, max_paths=2)
    assert explanation.paths is not None
    assert explanation.paths.count == 2**15_000
    assert "the sum of 2.818e+4515 paths" in explanation.text(80)
    assert explanation.to_dict()["paths"]["count"] == "2.818e+4515"


def test_labels_come_before_variables() -> None:
    scope = run(
        """
        w = Value(2.0, label="weight")
        loss = w * w
        explanation = whygrad.explain(loss, wrt=w)
        """
    )
    assert str(scope["explanation"]).startswith("dloss/dweight = 4")


def test_many_paths_are_listed_briefly() -> None:
    x = y = Value(1.0)
    for _ in range(4):
        y = y * 0.5 + y * 2.0
    text = whygrad.explain(y, wrt=x).text(80)
    assert "the sum of 16 paths" in text
    assert "the largest of them" in text
    assert "not shown" not in text
    assert len(text.splitlines()) < 40


@pytest.mark.parametrize("kind", ["values", "tensors"])
def test_the_empty_index_of_a_number(kind: str) -> None:
    (x,) = leaves(kind, 3.0)
    explanation = whygrad.explain(x * x, wrt=x, index=())
    assert [each.element for each in explanation.contributions] == [3, 3]
    assert explanation.text(80).startswith("(d(x * x)/dx)[] = 6: the sum of 2 contributions")
