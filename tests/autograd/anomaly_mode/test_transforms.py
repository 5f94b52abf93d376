"""Gradients of gradients, and transforms."""

from __future__ import annotations

from typing import Any

import whygrad as wg
from tests.autograd.anomaly_mode.catching import caught
from tests.autograd.tensors import leaf


def test_second_order_names_the_forward_line(watch: Any) -> None:
    x = leaf(0.0, 4.0)
    y = (x**1.5).sum()  # forward
    (slope,) = wg.autograd.grad(y, x, create_graph=True)
    error = caught(slope.sum().backward)
    assert "recorded while PowBackward ran, of" in str(error)
    assert "y = (x**1.5).sum()  # forward" in str(error)


def test_third_order_names_both(watch: Any) -> None:
    x = leaf(0.0, 4.0)
    y = (x**2.5).sum()
    (slope,) = wg.autograd.grad(y, x, create_graph=True)
    (curvature,) = wg.autograd.grad(slope.sum(), x, create_graph=True)
    text = str(caught(curvature.sum().backward))
    assert text.count("recorded while PowBackward ran, of") == 2
    assert "y = (x**2.5).sum()" in text


def test_create_graph_walk_itself(watch: Any) -> None:
    x = leaf(0.0, 4.0)
    loss = (x.sqrt() ** 3).sum()
    error = caught(lambda: wg.autograd.grad(loss, x, create_graph=True))
    assert (error.op, error.backward) == ("sqrt", True)


def test_function_transforms(watch: Any) -> None:
    per_sample = wg.func.vmap(wg.func.grad(lambda x: x.sqrt()))
    assert caught(lambda: per_sample(wg.tensor([0.0, 4.0]))).op == "sqrt"
    assert per_sample(wg.tensor([1.0, 4.0])).tolist() == [0.5, 0.25]
